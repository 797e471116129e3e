// SPDX-License-Identifier: Apache-2.0
// Draws the page's charts with D3 3 from the JSON in #data (chart_data.cpp). Each chart fills the
// available width and is redrawn if the width changes. Each datum has one element of class `mark`
// or `trial-line` with `data-trial`.
"use strict";

(function () {
  var data, byNumber, measured, inOrder, lessIsBetter;
  var tip = document.getElementById("tip");

  function load() {
    data = JSON.parse(document.getElementById("data").textContent);
    byNumber = {};
    data.trials.forEach(function (trial) { byNumber[trial.n] = trial; });
    measured = data.trials.filter(function (trial) { return isValue(trial.values[0]); });
    inOrder = measured.slice().sort(function (a, b) { return a.n - b.n; });
    lessIsBetter = data.objectives[0].minimize;
  }

  function isValue(value) { return typeof value === "number" && isFinite(value); }
  function isOver(trial) { return ["launching", "running", "interrupted"].indexOf(trial.status) < 0; }
  // True for repeated runs of a configuration. They are compared only with each other.
  function isRepeat(trial) { return trial.purpose.indexOf("confirm") === 0 || trial.purpose === "sentinel"; }
  function repeatText(trial) { return trial.purpose === "sentinel" ? "baseline again" : "confirmation"; }

  // ---- texts

  function fixed(value) {
    var size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
    return String(+value.toPrecision(size >= 1000 ? 5 : 4));
  }
  var units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"]];
  function unitOf(value) {
    for (var i = 0; i < units.length; ++i) {
      // Use days and minutes only for large values.
      if (Math.abs(value) >= units[i][0] * (i === 0 || i === 2 ? 4 : 1)) return units[i];
    }
    return units[3];
  }
  function secondsIn(unit) { return function (value) { return fixed(value / unit[0]) + " " + unit[1]; }; }
  function seconds(value) { return secondsIn(unitOf(value))(value); }
  function objectiveText(i, value) {
    var unit = data.objectives[i].unit;
    if (unit.indexOf("USD") === 0) return "$" + fixed(value);
    return unit.charAt(0) === "s" ? seconds(value) : fixed(value);
  }
  function trialText(trial) {
    var lines = ["Trial " + trial.n + (trial.best ? ", best" : "") + ": " +
                 (isRepeat(trial) ? repeatText(trial) + ", " : trial.purpose === "baseline" ? "baseline, " : "") +
                 trial.status.replace(/_/g, " ")];
    trial.values.forEach(function (value, i) {
      if (!isValue(value)) return;
      lines.push(data.objectives[i].name + " " + objectiveText(i, value) +
                 (trial.widths[i] && value ? " \u00b1 " + (100 * trial.widths[i] / Math.abs(value)).toFixed(1) + " %" : ""));
    });
    data.parameters.forEach(function (name, i) {
      if (trial.parameters[i] !== null) lines.push(name + " = " + trial.parameters[i]);
    });
    return lines.join("\n");
  }

  // ---- parts shared by all charts

  function hover(selection, text) {
    selection.on("mousemove", function (d) {
      tip.textContent = text(d);
      tip.hidden = false;
      var event = d3.event;
      tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
    }).on("mouseleave", function () { tip.hidden = true; });
  }

  function classOf(trial) {
    if (trial.n === data.recommended) return "mark recommended";
    if (trial.purpose === "baseline") return "mark baseline";
    if (isRepeat(trial)) return "mark confirm";
    return "mark " + (trial.status === "completed" ? "completed" : "other");
  }
  var symbols = {recommended: ["diamond", 110], baseline: ["square", 75], confirm: ["triangle-up", 45],
                 completed: ["circle", 38], other: ["cross", 34], decision: ["triangle-down", 45], "decision stop": ["triangle-down", 45]};
  function symbolPath(name) { return d3.svg.symbol().type(symbols[name][0]).size(symbols[name][1])(); }

  // Draw the most important marks last, on top.
  function weight(trial) { return trial.n === data.recommended ? 2 : trial.purpose === "baseline" ? 1 : 0; }

  function addMarks(group, trials, x, y) {
    var marks = group.selectAll("path.mark").data(trials.slice().sort(function (a, b) { return weight(a) - weight(b); }));
    marks.enter().append("path")
        .attr("class", function (d) { return classOf(d) + (d.n === steptune.selected() ? " selected" : ""); })
        .attr("data-trial", function (d) { return d.n; })
        .attr("d", function (d) { return symbolPath(classOf(d).slice(5)); })
        .attr("transform", function (d) { return "translate(" + x(d) + "," + y(d) + ")"; })
        .on("click", function (d) { steptune.select(d.n, true); });
    hover(marks, trialText);
  }

  function addIntervals(group, trials, x, y, objective, vertical) {
    group.append("g").selectAll("line").data(trials.filter(function (d) { return d.widths[objective] > 0; }))
      .enter().append("line").attr("class", "interval").each(function (d) {
        var low = d.values[objective] - d.widths[objective], high = d.values[objective] + d.widths[objective];
        d3.select(this)
            .attr("x1", vertical ? x(d) : x(low, true)).attr("x2", vertical ? x(d) : x(high, true))
            .attr("y1", vertical ? y(low, true) : y(d)).attr("y2", vertical ? y(high, true) : y(d));
      });
  }

  // Makes a chart of `height` with margins. The left margin has room for the labels of the vertical
  // axis.
  function frame(canvas, height, label, margins) {
    var m = {top: 20, right: 12, bottom: 38, left: 58};
    for (var side in margins || {}) m[side] = margins[side];
    var width = Math.max(200, canvas.clientWidth);
    var svg = d3.select(canvas).append("svg").attr("width", width).attr("height", height)
        .attr("viewBox", "0 0 " + width + " " + height).attr("role", "img").attr("aria-label", label);
    var inner = svg.append("g").attr("transform", "translate(" + m.left + "," + m.top + ")");
    return {g: inner, width: width - m.left - m.right, height: height - m.top - m.bottom};
  }

  // `xTicks` and `yTicks` are functions from a count to ticks as `ticksOf` returns them.
  function addAxes(f, x, y, xTitle, yTitle, xTicks, yTicks) {
    var ofX = xTicks(Math.max(3, Math.min(10, Math.floor(f.width / 80))));
    var ofY = yTicks(Math.max(3, Math.floor(f.height / 45)));
    function axis(scale, orient, ticks) {
      return d3.svg.axis().scale(scale).orient(orient).tickValues(ticks.values).tickFormat(ticks.text).outerTickSize(0);
    }
    f.g.append("g").attr("class", "grid").call(axis(y, "left", ofY).tickSize(-f.width).tickFormat(""));
    if (xTitle !== null) {
      f.g.append("g").attr("class", "axis").attr("transform", "translate(0," + f.height + ")").call(axis(x, "bottom", ofX));
      f.g.append("text").attr("x", f.width).attr("y", f.height + 33).attr("text-anchor", "end").text(xTitle);
    }
    f.g.append("g").attr("class", "axis").call(axis(y, "left", ofY));
    f.g.append("text").attr("x", -50).attr("y", -9).text(yTitle);
  }

  function legend(canvas, entries) {
    var div = d3.select(canvas).append("div").attr("class", "legend");
    entries.forEach(function (entry) {
      var item = div.append("span");
      var svg = item.append("svg").attr("width", 14).attr("height", 14);
      if (symbols[entry[0]]) {
        svg.append("path").attr("class", "key " + entry[0]).attr("d", symbolPath(entry[0])).attr("transform", "translate(7,7)");
      } else {
        svg.append("rect").attr("class", entry[0]).attr("width", 14).attr("height", 14);
      }
      item.append("span").text(entry[1]);
    });
  }
  function legendOfTrials(trials) {
    var texts = {recommended: "recommended", baseline: "baseline", completed: "completed", confirm: "confirmation",
                 other: "stopped early or infeasible"};
    return Object.keys(texts).filter(function (name) {
      return trials.some(function (trial) { return classOf(trial) === "mark " + name; });
    }).map(function (name) { return [name, texts[name]]; });
  }

  function extent(trials, objective) {
    var low = d3.min(trials, function (d) { return d.values[objective]; });
    var high = d3.max(trials, function (d) { return d.values[objective]; });
    return low < high ? [low, high] : [low * 0.9, high * 1.1 || 1];
  }
  // Returns a logarithmic scale if the values differ much, otherwise a linear one.
  function valueScale(range, domain) {
    var isLog = domain[0] > 0 && domain[1] / domain[0] > 3;
    var pad = isLog ? Math.pow(domain[1] / domain[0], 0.05) : 0.06 * (domain[1] - domain[0]);
    return isLog ? d3.scale.log().domain([domain[0] / pad, domain[1] * pad]).range(range)
                 : d3.scale.linear().domain([domain[0] - pad, domain[1] + pad]).range(range);
  }
  // Clips an interval to the chart.
  function within(scale, value) { return Math.max(scale.domain()[0], Math.min(scale.domain()[1], value)); }
  // Returns about `count` round values of a scale and their format. All times have the same unit.
  function ticksOf(scale, count, text, isTime) {
    var unit = isTime ? unitOf(scale.domain()[1]) : [1, ""];
    var domain = scale.domain().map(function (v) { return v / unit[0]; });
    var linear = d3.scale.linear().domain(domain).ticks(count);
    var values = linear;
    if (scale.base) {
      values = [];
      for (var power = Math.floor(Math.log(domain[0]) / Math.LN10); Math.pow(10, power) <= domain[1]; ++power) {
        [1, 2, 5].forEach(function (digit) { values.push(digit * Math.pow(10, power)); });
      }
      values = values.filter(function (v) { return v >= domain[0] && v <= domain[1]; });
      if (values.length < 3) values = linear.filter(function (v) { return v > 0; });
      if (values.length > 2 * count) values = values.filter(function (v, i) { return i % 3 === 0; });
    }
    return {values: values.map(function (v) { return v * unit[0]; }), text: isTime ? secondsIn(unit) : text};
  }
  function objectiveTicks(scale, count, i) {
    return ticksOf(scale, count, function (v) { return objectiveText(i, v); }, data.objectives[i].unit.charAt(0) === "s");
  }

  // ---- the charts

  function drawHistory(canvas) {
    var f = frame(canvas, 300, "Objective of each trial in order, and the best so far");
    var x = d3.scale.linear().domain([0, d3.max(inOrder, function (d) { return d.n; }) + 1]).range([0, f.width]);
    var y = valueScale([f.height, 0], extent(inOrder, 0));
    addAxes(f, x, y, "trial", data.objectives[0].name,
            function (n) { return {values: x.ticks(n).filter(function (v) { return v % 1 === 0; }), text: String}; },
            function (n) { return objectiveTicks(y, n, 0); });
    var atX = function (d) { return x(d.n); };
    var atY = function (d, raw) { return y(raw ? within(y, d) : d.values[0]); };
    var baseline = byNumber[data.baseline];
    if (baseline && isValue(baseline.values[0])) {
      f.g.append("line").attr("class", "reference").attr("x2", f.width)
          .attr("y1", atY(baseline)).attr("y2", atY(baseline));
    }
    var best = null;
    var steps = [];
    inOrder.forEach(function (d) {
      if (d.status !== "completed" || isRepeat(d)) return;
      if (best === null || (lessIsBetter ? d.values[0] < best : d.values[0] > best)) best = d.values[0];
      steps.push([x(d.n), y(best)]);
    });
    if (steps.length) steps.push([f.width, steps[steps.length - 1][1]]);
    f.g.append("path").attr("class", "best-so-far").attr("d", d3.svg.line().interpolate("step-after")(steps));
    addIntervals(f.g, inOrder, atX, atY, 0, true);
    addMarks(f.g.append("g"), inOrder, atX, atY);
    legend(canvas, legendOfTrials(inOrder));
  }

  function drawFront(canvas) {
    var trials = measured.filter(function (d) { return isValue(d.values[1]) && !isRepeat(d); });
    if (!trials.length) return;
    var f = frame(canvas, 300, "The two objectives of each trial, and the Pareto front");
    var x = valueScale([0, f.width], extent(trials, 0));
    var y = valueScale([f.height, 0], extent(trials, 1));
    addAxes(f, x, y, data.objectives[0].name, data.objectives[1].name,
            function (n) { return objectiveTicks(x, n, 0); }, function (n) { return objectiveTicks(y, n, 1); });
    var atX = function (d, raw) { return x(raw ? within(x, d) : d.values[0]); };
    var atY = function (d, raw) { return y(raw ? within(y, d) : d.values[1]); };
    var front = trials.filter(function (d) { return d.pareto; })
        .sort(function (a, b) { return (a.values[0] - b.values[0]) * (lessIsBetter ? 1 : -1); });
    // The front is sorted by the first objective, best first. Up to the next trial's first value,
    // this trial has the best second value.
    f.g.append("path").attr("class", "front-line").attr("d",
        d3.svg.line().x(function (d) { return atX(d); }).y(function (d) { return atY(d); }).interpolate("step-after")(front));
    addIntervals(f.g, trials, atX, atY, 0, false);
    addIntervals(f.g, trials, atX, atY, 1, true);
    addMarks(f.g.append("g"), trials, atX, atY);
    legend(canvas, legendOfTrials(trials));
  }

  // Show a number of samples with all its digits.
  function valueText(value) {
    if (!isValue(value)) return value;
    return value % 1 === 0 && Math.abs(value) < 1e9 ? String(value) : fixed(value);
  }
  // Makes a parameter's scale: numbers by size, other values by name. Inactive has a separate place
  // below.
  function parameterScale(i, range, trials) {
    var values = trials.map(function (d) { return d.parameters[i]; });
    var present = values.filter(function (v) { return v !== null; });
    var numeric = present.every(isValue);
    var inactive = present.length < values.length;
    var room = inactive ? [range[0] + 0.12 * (range[1] - range[0]), range[1]] : range;
    var scale, ticks;
    if (numeric && present.length) {
      var domain = d3.extent(present);
      var isLog = domain[0] > 0 && domain[1] / domain[0] >= 16;
      scale = (isLog ? d3.scale.log() : d3.scale.linear()).domain(domain[0] < domain[1] ? domain : [domain[0] - 1, domain[1] + 1]).range(room);
      var distinct = d3.set(present).values().map(Number).sort(d3.ascending);
      ticks = distinct.length <= 8 ? distinct : isLog ? null : scale.ticks(5);
      if (!ticks) {
        ticks = [];
        for (var k = 0; k < 5; ++k) ticks.push(+(domain[0] * Math.pow(domain[1] / domain[0], k / 4)).toPrecision(2));
      }
    } else {
      ticks = d3.set(present.map(String)).values().sort();
      var points = d3.scale.ordinal().domain(ticks).rangePoints(room, ticks.length > 1 ? 0.4 : 1);
      scale = function (v) { return points(String(v)); };
    }
    return {ticks: ticks.map(function (t) { return {at: scale(t), text: valueText(t)}; })
                .concat(inactive ? [{at: range[0], text: "inactive"}] : []),
            at: function (v) { return v === null ? range[0] : scale(v); }};
  }
  function shorter(text, most) {
    var half = Math.floor((most - 1) / 2);
    return text.length <= most ? text : text.slice(0, half) + "\u2026" + text.slice(text.length - half);
  }

  function drawParallel(canvas) {
    var trials = measured.filter(function (d) { return !isRepeat(d); });
    // On a narrow screen the axes are below each other, each with room for its labels.
    var names = data.parameters.concat([data.objectives[0].name]);
    var upright = canvas.clientWidth >= 90 * names.length;
    var f = frame(canvas, upright ? 320 : 70 * names.length + 40, "Parameters and objective of each trial",
                  upright ? {top: 30, bottom: 14, left: 46, right: 60} : {top: 30, left: 12, right: 26, bottom: 20});
    var along = upright ? f.width : f.height, across = upright ? [f.height, 0] : [0, f.width];
    var place = d3.scale.ordinal().domain(d3.range(names.length)).rangePoints([0, along]);
    var value = valueScale(across, extent(trials, 0));
    var axes = data.parameters.map(function (name, i) { return parameterScale(i, across, trials); });
    var objective = objectiveTicks(value, 5, 0);
    axes.push({ticks: objective.values.map(function (t) { return {at: value(t), text: objective.text(t)}; }), at: value});
    var ofTrial = function (d, k) { return axes[k].at(k < data.parameters.length ? d.parameters[k] : d.values[0]); };
    var sorted = trials.slice().sort(function (a, b) { return (lessIsBetter ? 1 : -1) * (a.values[0] - b.values[0]); });
    var style = getComputedStyle(document.documentElement);
    var shade = d3.scale.linear().domain([0, Math.max(1, 0.35 * sorted.length), Math.max(2, sorted.length)])
        .range(["--blue", "--grey", "--line"].map(function (name) { return style.getPropertyValue(name).trim(); }));
    var lines = f.g.append("g").selectAll("path").data(sorted.slice().reverse());
    lines.enter().append("path")
        .attr("class", function (d) {
          return "trial-line" + (d.n === data.recommended ? " recommended" : d.n === data.baseline ? " baseline" : "");
        })
        .attr("data-trial", function (d) { return d.n; })
        .style("stroke", function (d) { return shade(sorted.indexOf(d)); })
        .attr("d", function (d) {
          return d3.svg.line()(names.map(function (name, k) {
            return upright ? [place(k), ofTrial(d, k)] : [ofTrial(d, k), place(k)];
          }));
        })
        .on("click", function (d) { steptune.select(d.n, true); });
    hover(lines, trialText);
    var chosen = {};
    function show() {
      lines.classed("away", function (d) {
        return Object.keys(chosen).some(function (k) {
          var at = ofTrial(d, +k);
          return at < chosen[k][0] || at > chosen[k][1];
        });
      });
    }
    names.forEach(function (name, k) {
      var axis = f.g.append("g").attr("class", "parallel-axis")
          .attr("transform", upright ? "translate(" + place(k) + ",0)" : "translate(0," + place(k) + ")");
      axis.append("line").attr(upright ? "y2" : "x2", upright ? f.height : f.width);
      var last = k === names.length - 1;
      axis.append("text").attr("class", "title").attr("y", -12).attr("text-anchor", upright ? "middle" : "start")
          .text(shorter(name, upright ? Math.max(8, Math.floor(along / names.length / 7)) : 40));
      axes[k].ticks.forEach(function (tick) {
        axis.append("text").attr("class", "tick-label").attr("x", upright ? (last ? 8 : -6) : tick.at).attr("y", upright ? tick.at : 14)
            .attr("dy", upright ? "0.32em" : 0).attr("text-anchor", upright ? (last ? "start" : "end") : "middle")
            .text(shorter(tick.text, upright ? 10 : 12));
      });
      var scale = d3.scale.linear().domain([0, upright ? f.height : f.width]).range([0, upright ? f.height : f.width]);
      var brush = upright ? d3.svg.brush().y(scale) : d3.svg.brush().x(scale);
      brush.on("brush", function () {
        if (brush.empty()) delete chosen[k]; else chosen[k] = brush.extent();
        show();
      });
      axis.append("g").attr("class", "brush").call(brush).selectAll("rect")
          .attr(upright ? "x" : "y", -8).attr(upright ? "width" : "height", 16);
    });
  }

  function drawSlices(canvas) {
    var trials = measured.filter(function (d) { return !isRepeat(d); });
    d3.select(canvas).classed("small-multiples", true);
    var cells = data.parameters.map(function () { return canvas.appendChild(document.createElement("div")); });
    data.parameters.forEach(function (name, i) {
      var cell = cells[i];
      var f = frame(cell, 190, "Objective over " + name, {left: 54, bottom: 30, top: 20});
      var axis = parameterScale(i, [8, f.width - 8], trials);
      var y = valueScale([f.height, 0], extent(trials, 0));
      addAxes(f, null, y, null, "", function () { return null; }, function (n) { return objectiveTicks(y, n, 0); });
      f.g.append("text").attr("class", "title").attr("x", f.width / 2).attr("y", -8).attr("text-anchor", "middle").text(shorter(name, 30));
      var free = -Infinity;
      axis.ticks.slice().sort(function (a, b) { return a.at - b.at; }).forEach(function (tick) {
        var text = shorter(tick.text, 12);
        if (tick.at - 3.2 * text.length < free) return;
        free = tick.at + 3.2 * text.length + 6;
        f.g.append("text").attr("x", tick.at).attr("y", f.height + 16).attr("text-anchor", "middle").text(text);
      });
      // Spread equal values by the trial's number, so that their places are the same at every
      // redraw.
      addMarks(f.g.append("g"), trials, function (d) { return axis.at(d.parameters[i]) + (d.n * 0.618 % 1 - 0.5) * 10; },
               function (d) { return y(d.values[0]); });
    });
  }

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
    // Choose the span so that a launch is eight pixels wide on average, but not more rows than fit
    // on a screen.
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
      // Bars of the start-up, until the first step: full height on a machine that was started for
      // the trial, otherwise a thin bar at the bottom.
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
    return (decision.stop ? "stopped" : "went on") + (decision.reason ? ": " + decision.reason : "");
  }
  function estimateText(decision, i) {
    if (!isValue(decision.values[i])) return "-";
    return objectiveText(i, decision.values[i]) + (decision.widths[i] && decision.values[i] ?
        " \u00b1 " + (100 * decision.widths[i] / Math.abs(decision.values[i])).toFixed(1) + " %" : "");
  }
  // Adds a table of the scheduler's decisions about a trial and the values it saw.
  function addDecisions(canvas, decisions) {
    var left = decisions.count - decisions.latest.length;
    d3.select(canvas).append("p").attr("class", "no-trace").text("The scheduler looked at this trial " + decisions.count +
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
    var chosen = byNumber[steptune.selected()];
    var current = chosen ? chosen.n : data.traces[data.recommended] ? data.recommended : d3.min(numbers);
    if (numbers.indexOf(current) < 0) numbers.push(current);
    numbers.sort(d3.ascending);
    var choice = d3.select(canvas).append("p").attr("class", "controls").append("label").text("Trial ").append("select");
    choice.selectAll("option").data(numbers).enter().append("option").attr("value", String)
        .property("selected", function (n) { return n === current; })
        .text(function (n) {
          var trial = byNumber[n];
          return n + (n === data.recommended ? ", recommended" : trial.purpose === "baseline" ? ", baseline"
              : isRepeat(trial) ? ", " + repeatText(trial) : trial.rank ? ", rank " + trial.rank : ", " + trial.status.replace(/_/g, " "));
        });
    choice.on("change", function () { steptune.select(+this.value, false); });
    var trace = data.traces[current] && traceOf(current);
    if (!trace || !trace.pieces.length) {
      d3.select(canvas).append("p").attr("class", "no-trace").text("There are no step times of trial " + current + " (" +
          byNumber[current].status.replace(/_/g, " ") + "): " + (data.traces[current] ? "it reported once." :
          isOver(byNumber[current]) ? "it ended before it reported, or they were removed from the history." : "it has not ended yet."));
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
    if (trace.stored.disturbed) shown.push(["disturbed", "disturbed by others"]);
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
      shown.push(["decision", "the scheduler looked and let it go on"]);
      if (decisions.latest.some(function (d) { return d.stop; })) shown.push(["decision stop", "and stopped it"]);
    }
    legend(canvas, shown);
    if (decisions) addDecisions(canvas, decisions);
  }

  // Draws one bar for each row, with its 95 % interval. A bar may start where another bar ended
  // (`from`). A label is above its bar, so that long labels have room on a narrow screen.
  function drawBars(canvas, chart, text) {
    var rows = chart.rows, step = 34;
    var start = chart.log ? 1 : 0;
    var f = frame(canvas, rows.length * step + 62, chart.title, {left: 10, right: 22, top: 26, bottom: 34});
    var ends = d3.merge(rows.map(function (d) {
      return [isValue(d.from) ? d.from : start, d.to, isValue(d.low) ? d.low : d.to, isValue(d.high) ? d.high : d.to];
    })).concat([start]);
    var domain = d3.extent(ends);
    if (domain[0] === domain[1]) domain = [domain[0], domain[1] + (chart.log ? 0.1 : 1)];
    var x = (chart.log ? d3.scale.log() : d3.scale.linear()).domain(domain).range([0, f.width]);
    var count = Math.max(3, Math.min(8, Math.floor(f.width / 90)));
    var ticks = d3.scale.linear().domain(domain).ticks(count);
    var axis = d3.svg.axis().scale(x).orient("bottom").tickValues(ticks).tickFormat(text).outerTickSize(0);
    f.g.append("g").attr("class", "grid").call(d3.svg.axis().scale(x).orient("bottom").tickValues(ticks)
        .tickSize(f.height).tickFormat(""));
    f.g.append("g").attr("class", "axis").attr("transform", "translate(0," + f.height + ")").call(axis);
    f.g.append("text").attr("class", "title").attr("y", -10).text(chart.title);
    var groups = f.g.selectAll("g.bar-row").data(rows).enter().append("g").attr("class", "bar-row")
        .attr("transform", function (d, i) { return "translate(0," + i * step + ")"; });
    function at(d) { return isValue(d.from) ? d.from : start; }
    function valueText(d) {
      return text(chart.log && isValue(d.from) ? d.to / d.from : isValue(d.from) ? d.to - d.from : d.to);
    }
    groups.append("text").attr("class", "tick-label").attr("y", 13).text(function (d) {
      return shorter(d.label, Math.max(14, Math.floor(f.width / 7) - 8)) + "  " + valueText(d);
    });
    groups.append("rect").attr("class", function (d) { return "bar " + d.kind; }).attr("data-label", function (d) { return d.label; })
        .attr("y", 18).attr("height", 9)
        .attr("x", function (d) { return Math.min(x(at(d)), x(d.to)); })
        .attr("width", function (d) { return Math.max(1, Math.abs(x(d.to) - x(at(d)))); });
    groups.filter(function (d) { return isValue(d.low) && isValue(d.high); }).append("path").attr("class", "bar-interval")
        .attr("d", function (d) { return "M" + x(d.low) + ",19v7M" + x(d.low) + ",22.5H" + x(d.high) + "M" + x(d.high) + ",19v7"; });
    hover(groups, function (d) {
      var interval = isValue(d.low) ? ", 95 % interval " + text(chart.log && isValue(d.from) ? d.low / d.from : d.low) +
          " to " + text(chart.log && isValue(d.from) ? d.high / d.from : d.high) : "";
      return d.label + ": " + valueText(d) + interval +
          (d.kind === "modelled" ? "\nby the model: no trial measured it" : d.kind === "measured" ? "\nmeasured" : "");
    });
  }
  function percent(value) { return fixed(Math.round(1000 * value) / 10) + " %"; }
  function times(value) { return fixed(+value.toPrecision(3)) + "\u00d7"; }
  function drawBarCharts(canvas, list) {
    if (!(list || []).length) return;
    // Make all cells first, because each further cell makes the other cells narrower.
    var grid = d3.select(canvas).append("div").attr("class", "bar-charts");
    var cells = list.map(function () { return grid.append("div").node(); });
    list.forEach(function (chart, i) {
      var isShare = chart.rows.every(function (d) { return !isValue(d.from); });
      drawBars(cells[i], chart, chart.log ? times : isShare ? percent : fixed);
    });
  }
  function drawImportance(canvas) {
    drawBarCharts(canvas, data.importance);
    if (canvas.childNodes.length) legend(canvas, [["bar parameter", "a parameter by itself"], ["bar pair", "two together, beyond that"]]);
  }
  function drawAblation(canvas) {
    drawBarCharts(canvas, data.ablation);
    if (canvas.childNodes.length) legend(canvas, [["bar measured", "measured"], ["bar modelled", "by the model"]]);
  }
  function drawBottleneck(canvas) { drawBarCharts(canvas, data.bottleneck); }
  function drawScaling(canvas) {
    steptune.scaling.draw(canvas, data.scaling, {frame: frame, addAxes: addAxes, ticksOf: ticksOf, seconds: seconds, hover: hover});
  }

  // ---- list of charts

  var charts = {history: drawHistory, front: drawFront, parallel: drawParallel, slices: drawSlices, timeline: drawTimeline, trace: drawTrace,
                "importance-chart": drawImportance, "ablation-chart": drawAblation, "bottleneck-chart": drawBottleneck,
                "scaling-chart": drawScaling};
  function draw(id) {
    var figure = document.getElementById(id);
    if (!figure || (!measured.length && id !== "timeline")) return;
    figure.hidden = false;
    var canvas = figure.querySelector(".canvas");
    canvas.textContent = "";
    charts[id](canvas);
    figure.hidden = !canvas.childNodes.length;
  }
  function drawAll() { Object.keys(charts).forEach(draw); }
  load();
  drawAll();
  steptune.onRefresh(function () {
    load();
    tip.hidden = true;
    drawAll();
  });
  steptune.onSelect(function (number) {
    draw("trace");
    d3.selectAll("path.mark").classed("selected", function (d) { return d && d.n === number; });
    d3.selectAll("rect.span").classed("selected", function (d) { return d && d.trial.n === number; });
  });
  var width = window.innerWidth;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    drawAll();
  });
  if (window.matchMedia) window.matchMedia("(prefers-color-scheme: dark)").addListener(drawAll);
})();
