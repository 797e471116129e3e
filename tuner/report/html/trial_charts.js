// SPDX-License-Identifier: Apache-2.0
// Draws the timeline of all launches, and the step times of a chosen trial. charts.js calls both.
"use strict";

steptune.trialCharts = (function () {
  var parts = steptune.parts, isValue = parts.isValue, isOver = parts.isOver, isRepeat = parts.isRepeat,
      repeatText = parts.repeatText, fixed = parts.fixed, unitOf = parts.unitOf, seconds = parts.seconds,
      objectiveText = parts.objectiveText, trialText = parts.trialText, hover = parts.hover, classOf = parts.classOf,
      symbolPath = parts.symbolPath, frame = parts.frame, addAxes = parts.addAxes, legend = parts.legend,
      valueScale = parts.valueScale, ticksOf = parts.ticksOf, shorter = parts.shorter;
  var data;

  function load(loaded) { data = loaded; }

  function kindOfSpan(launch) {
    var trial = launch.trial;
    if (!launch.isLast) return "lost";
    if (trial.n === data.recommended || trial.purpose === "baseline" || isRepeat(trial)) return classOf(trial).slice(5);
    return {completed: "completed", failed: "lost", out_of_memory: "lost", interrupted: "lost",
            launching: "going-on", running: "going-on"}[trial.status] || "other";
  }
  var spanTexts = {recommended: "recommended", baseline: "baseline", completed: "completed", confirm: "confirmation",
                   other: "stopped early or infeasible", lost: "failed, out of memory or interrupted", "going-on": "running"};

  var startTexts = [["start-up", "until the first step"], ["start-up cold", "cold start, until the first step"],
                    ["start-up warm", "warm start, until the first step"]];

  function rowTime(value) {
    var unit = unitOf(value);
    return +(value / unit[0]).toPrecision(3) + " " + unit[1];
  }

  function drawTimeline(canvas) {
    var launches = steptune.timeline.launches(data.trials);
    if (!launches.length) return;
    var unused = (data.unused || []).map(function (d) { return {machine: d.machine, from: d.from, to: d.to, usd: d.usd}; });
    var lanes = steptune.timeline.lanes(launches, unused), jobs = steptune.timeline.jobs(launches);
    var times = steptune.timeline.byTime(launches, unused);
    var width = Math.max(200, canvas.clientWidth), laneHeight = lanes.length > 12 ? 9 : lanes.length > 4 ? 14 : 20;
    // Choose the time span of a row so that a launch is eight pixels wide on average. Limit the
    // number of rows to what fits on a screen.
    var count = Math.max(1, Math.min(Math.ceil(24 / lanes.length), Math.ceil(launches.length / lanes.length * 8 / (width - 80))));
    var span = Math.max(1e-3, steptune.timeline.busy(times) / count * 1.001);
    var rows = steptune.timeline.rows(times, span);
    var rowHeight = lanes.length * laneHeight + 20;
    var f = frame(canvas, rows.length * rowHeight + 30, "When each trial ran", {left: 62, right: 12, top: 4, bottom: 26});
    var x = d3.scale.linear().domain([0, span]).range([0, f.width]);
    var ticks = ticksOf(x, Math.max(3, Math.floor(f.width / 110)), fixed, true);
    rows.forEach(function (row, k) {
      var g = f.g.append("g").attr("transform", "translate(0," + k * rowHeight + ")");
      g.append("text").attr("x", -8).attr("y", lanes.length * laneHeight / 2 + 4).attr("text-anchor", "end").text(rowTime(row.from));
      if (row.pause) g.append("text").attr("x", 0).attr("y", -3).text("after a pause of " + seconds(row.pause));
      g.append("rect").attr("class", "lane").attr("width", f.width).attr("height", lanes.length * laneHeight);
      var shown = launches.filter(function (d) { return d.to >= row.from && (d.idleFrom === null ? d.from : d.idleFrom) < row.from + span; });
      function bar(kind, list, from, to) {
        return g.append("g").selectAll("rect").data(list).enter().append("rect").attr("class", kind)
            .attr("x", function (d) { return x(Math.max(0, from(d) - row.from)); })
            .attr("width", function (d) {
              return Math.max(1, x(Math.min(span, to(d) - row.from)) - x(Math.max(0, from(d) - row.from)) - 0.6);
            })
            .attr("y", function (d) { return d.lane * laneHeight + 1; }).attr("height", laneHeight - 2);
      }
      bar("idle", shown.filter(function (d) { return d.idleFrom !== null && d.from > d.idleFrom; }),
          function (d) { return d.idleFrom; }, function (d) { return d.from; });
      hover(bar("idle", unused.filter(function (d) { return d.to >= row.from && d.from < row.from + span; }),
          function (d) { return d.from; }, function (d) { return d.to; }).attr("data-machine", function (d) { return d.machine; }),
          function (d) {
        return d.machine + "\nkept and not used for " + seconds(d.to - d.from) + (d.usd ? ", $" + d.usd : "");
      });
      var begun = shown.filter(function (d) { return d.from < row.from + span; });
      var bars = bar("span", begun, function (d) { return d.from; }, function (d) { return d.to; });
      bars.attr("class", function (d) { return "span " + kindOfSpan(d) + (d.trial.n === steptune.selected() ? " selected" : ""); })
          .attr("data-trial", function (d) { return d.trial.n; })
          .on("click", function (d) { steptune.select(d.trial.n, true); });
      hover(bars, function (d) {
        return trialText(d.trial) + "\nbegun at " + seconds(d.from) + ", took " + seconds(d.to - d.from) +
            (d.trial.start ? "\n" + d.trial.start + " start" : "") + (d.trial.instances ? " on " + d.trial.instances : "");
      });
      // Draw a bar for each start-up, until the first step. It has full height if a machine was
      // started for the trial; otherwise it is a thin bar at the bottom.
      bar("start-up", begun.filter(startup), function (d) { return d.from; }, function (d) { return Math.min(d.to, d.from + startup(d)); })
          .attr("class", function (d) { return kindOfStart(d.trial); })
          .attr("y", function (d) { return (d.lane + 1) * laneHeight - 1 - startHeight(d.trial); })
          .attr("height", function (d) { return startHeight(d.trial); });
      bar("job", jobs.filter(function (d) { return d.to >= row.from && d.from < row.from + span; }),
          function (d) { return d.from; }, function (d) { return d.to; })
          .attr("data-trials", function (d) { return d.trials.join(" "); });
    });
    function kindOfStart(trial) { return "start-up" + ({cold: " cold", warm: " warm"}[trial.start] || ""); }
    function startHeight(trial) { return trial.start === "cold" ? laneHeight - 2 : Math.round((laneHeight - 2) / 3); }
    function startup(d) { return d.isLast && data.traces[d.trial.n] ? data.traces[d.trial.n].startup || 0 : 0; }
    f.g.append("g").attr("class", "axis").attr("transform", "translate(0," + (rows.length * rowHeight - 14) + ")")
        .call(d3.svg.axis().scale(x).orient("bottom").tickValues(ticks.values).tickFormat(ticks.text).outerTickSize(0));
    var kinds = d3.set(launches.map(kindOfSpan));
    legend(canvas, Object.keys(spanTexts).filter(function (kind) { return kinds.has(kind); })
        .map(function (kind) { return ["span " + kind, spanTexts[kind]]; })
        .concat(startTexts.filter(function (entry) {
          return launches.some(function (d) { return startup(d) && kindOfStart(d.trial) === entry[0]; });
        }))
        .concat(jobs.length ? [["job", "trials of one job"]] : [])
        .concat(unused.length || launches.some(function (d) { return d.idleFrom !== null; }) ? [["idle", "machine kept, idle"]] : []));
    if (lanes.some(Boolean)) {
      d3.select(canvas).append("p").attr("class", "no-trace").text("Lanes, from above: "
          + lanes.map(function (lane) { return lane || "kept from before"; }).join(", "));
    }
  }

  function traceOf(number) {
    var stored = data.traces[number];
    var at = 0, done = 0;
    var pieces = stored.seconds.map(function (dt, i) {
      var from = at;
      at += dt;
      done += stored.samples[i];
      // The time before the first report includes start-up and the first steps.
      return {from: from, to: at, perStep: i === 0 ? NaN : dt / stored.samples[i] * (stored.samples_per_step || 1)};
    });
    return {stored: stored, pieces: pieces.filter(function (p) { return p.perStep > 0; }), end: at};
  }

  function decidedText(decision) {
    return (decision.stop ? "stopped" : "continued") + (decision.reason ? ": " + decision.reason : "");
  }
  function estimateText(decision, i) {
    if (!isValue(decision.values[i])) return "-";
    return objectiveText(i, decision.values[i]) + (decision.widths[i] && decision.values[i] ?
        " \u00b1 " + (100 * decision.widths[i] / Math.abs(decision.values[i])).toFixed(1) + " %" : "");
  }
  // Adds a table of the scheduler's decisions about a trial and the values it saw.
  function addDecisions(canvas, decisions) {
    var left = decisions.count - decisions.latest.length;
    d3.select(canvas).append("p").attr("class", "no-trace").text("The scheduler decided about this trial " + decisions.count +
        (decisions.count === 1 ? " time" : " times") + (left > 0 ? "; the latest " + decisions.latest.length + ":" : ":"));
    var table = d3.select(canvas).append("div").attr("class", "scroll").append("table").attr("class", "decisions");
    table.append("thead").append("tr").selectAll("th")
        .data(["after", "steps"].concat(data.objectives.map(function (o) { return o.name; }), "decision"))
        .enter().append("th").attr("scope", "col").text(String);
    table.append("tbody").selectAll("tr").data(decisions.latest).enter().append("tr").selectAll("td").data(function (d) {
      return [seconds(d.at), fixed(d.steps)].concat(data.objectives.map(function (o, i) { return estimateText(d, i); }), decidedText(d));
    }).enter().append("td").text(String);
  }

  function drawTrace(canvas) {
    var numbers = Object.keys(data.traces).map(Number);
    if (!numbers.length) return;
    var chosen = data.byNumber[steptune.selected()];
    var current = chosen ? chosen.n : data.traces[data.recommended] ? data.recommended : d3.min(numbers);
    if (numbers.indexOf(current) < 0) numbers.push(current);
    numbers.sort(d3.ascending);
    var choice = d3.select(canvas).append("p").attr("class", "controls").append("label").text("Trial ").append("select");
    choice.selectAll("option").data(numbers).enter().append("option").attr("value", String)
        .property("selected", function (n) { return n === current; })
        .text(function (n) {
          var trial = data.byNumber[n];
          return n + (n === data.recommended ? ", recommended" : trial.purpose === "baseline" ? ", baseline"
              : isRepeat(trial) ? ", " + repeatText(trial) : trial.rank ? ", rank " + trial.rank : ", " + trial.status.replace(/_/g, " "));
        });
    choice.on("change", function () { steptune.select(+this.value, false); });
    var trace = data.traces[current] && traceOf(current);
    if (!trace || !trace.pieces.length) {
      d3.select(canvas).append("p").attr("class", "no-trace").text("There are no step times of trial " + current + " (" +
          data.byNumber[current].status.replace(/_/g, " ") + "): " + (data.traces[current] ? "it reported once." :
          isOver(data.byNumber[current]) ? "it ended before it reported, or its step times were removed from the history." : "it has not ended yet."));
      return;
    }
    var f = frame(canvas, 280, "Step time over the trial");
    var x = d3.scale.linear().domain([0, trace.end]).range([0, f.width]);
    var times = trace.pieces.map(function (p) { return p.perStep; });
    var y = valueScale([f.height, 0], [d3.min(times), d3.max(times)]);
    function band(kind, from, to) {
      f.g.append("rect").attr("class", kind).attr("x", x(Math.max(0, from))).attr("height", f.height)
          .attr("width", Math.max(1.5, x(Math.min(trace.end, to)) - x(Math.max(0, from))));
    }
    var shown = [];
    if (trace.stored.window && isValue(trace.stored.window[1])) {
      band("warm-up", 0, trace.stored.window[0]);
      band("window", trace.stored.window[0], trace.stored.window[1]);
      shown = [["warm-up", "start-up and warm-up"], ["window", "measured window"]];
    }
    (trace.stored.phases || []).forEach(function (phase) { band("phase", phase[1], phase[2]); });
    (trace.stored.disturbed || []).forEach(function (time) { band("disturbed", time[0], time[1]); });
    if (trace.stored.phases) {
      shown.push(["phase", "phases: " + shorter(d3.set(trace.stored.phases.map(function (p) { return p[0]; })).values().join(", "), 60)]);
    }
    if (trace.stored.disturbed) shown.push(["disturbed", "disturbed by other load"]);
    addAxes(f, x, y, "since the trial's start", "per step", function (n) { return ticksOf(x, n, fixed, true); },
            function (n) { return ticksOf(y, n, fixed, true); });
    if (trace.stored.mean > 0) {
      var mean = y(trace.stored.mean * (trace.stored.samples_per_step || 1));
      f.g.append("line").attr("class", "reference").attr("x2", f.width).attr("y1", mean).attr("y2", mean);
    }
    var corners = [];
    trace.pieces.forEach(function (p) { corners.push([x(p.from), y(p.perStep)], [x(p.to), y(p.perStep)]); });
    f.g.append("path").attr("class", "step-time").attr("data-pieces", trace.pieces.length).attr("d", d3.svg.line()(corners));
    var decisions = trace.stored.decisions;
    if (decisions) {
      var marks = f.g.selectAll("path.decision").data(decisions.latest).enter().append("path")
          .attr("class", function (d) { return d.stop ? "decision stop" : "decision"; })
          .attr("d", function (d) { return symbolPath("decision"); })
          .attr("transform", function (d) { return "translate(" + x(Math.min(d.at, trace.end)) + ",0)"; });
      hover(marks, function (d) {
        return ["after " + seconds(d.at) + ", " + fixed(d.steps) + " steps"].concat(
            data.objectives.map(function (o, i) { return o.name + " " + estimateText(d, i); }), decidedText(d)).join("\n");
      });
      shown.push(["decision", "the scheduler continued the trial"]);
      if (decisions.latest.some(function (d) { return d.stop; })) shown.push(["decision stop", "the scheduler stopped the trial"]);
    }
    legend(canvas, shown);
    if (decisions) addDecisions(canvas, decisions);
  }

  return {load: load, drawTimeline: drawTimeline, drawTrace: drawTrace};
})();
