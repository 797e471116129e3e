// SPDX-License-Identifier: Apache-2.0
// Draws the page's charts with D3 3 from the JSON in #data (chart_data.cpp). Each chart fills the
// available width and is redrawn if the width changes. Each datum has one element of class `mark`
// or `trial-line` with `data-trial`.
"use strict";

(function () {
  var parts = steptune.parts, isValue = parts.isValue, isRepeat = parts.isRepeat, fixed = parts.fixed,
      seconds = parts.seconds, trialText = parts.trialText, hover = parts.hover, addMarks = parts.addMarks,
      addIntervals = parts.addIntervals, frame = parts.frame, addAxes = parts.addAxes, legend = parts.legend,
      legendOfTrials = parts.legendOfTrials, extent = parts.extent, valueScale = parts.valueScale,
      within = parts.within, ticksOf = parts.ticksOf, objectiveTicks = parts.objectiveTicks, shorter = parts.shorter;
  var data, measured, inOrder, lessIsBetter;

  function load() {
    data = parts.load();
    steptune.trialCharts.load(data);
    measured = data.trials.filter(function (trial) { return isValue(trial.values[0]); });
    inOrder = measured.slice().sort(function (a, b) { return a.n - b.n; });
    lessIsBetter = data.objectives[0].minimize;
  }

  function drawHistory(canvas) {
    var f = frame(canvas, 300, "Objective of each trial in order, and the best so far");
    var x = d3.scale.linear().domain([0, d3.max(inOrder, function (d) { return d.n; }) + 1]).range([0, f.width]);
    var y = valueScale([f.height, 0], extent(inOrder, 0));
    addAxes(f, x, y, "trial", data.objectives[0].name,
            function (n) { return {values: x.ticks(n).filter(function (v) { return v % 1 === 0; }), text: String}; },
            function (n) { return objectiveTicks(y, n, 0); });
    var atX = function (d) { return x(d.n); };
    var atY = function (d, raw) { return y(raw ? within(y, d) : d.values[0]); };
    var baseline = data.byNumber[data.baseline];
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
    // The front is sorted by the first objective, best first. Between the first values of two
    // neighbours, the earlier trial has the best second value, so draw steps.
    f.g.append("path").attr("class", "front-line").attr("d",
        d3.svg.line().x(function (d) { return atX(d); }).y(function (d) { return atY(d); }).interpolate("step-after")(front));
    addIntervals(f.g, trials, atX, atY, 0, false);
    addIntervals(f.g, trials, atX, atY, 1, true);
    addMarks(f.g.append("g"), trials, atX, atY);
    legend(canvas, legendOfTrials(trials));
  }

  // Returns a parameter's value as text. Whole numbers keep all digits.
  function valueText(value) {
    if (!isValue(value)) return value;
    return value % 1 === 0 && Math.abs(value) < 1e9 ? String(value) : fixed(value);
  }
  // Makes a parameter's scale: numbers by size, other values by name. Inactive trials have a
  // separate place below.
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
      // Move marks with equal values apart. The distance depends on the trial's number, so that it
      // is the same at every redraw.
      addMarks(f.g.append("g"), trials, function (d) { return axis.at(d.parameters[i]) + (d.n * 0.618 % 1 - 0.5) * 10; },
               function (d) { return y(d.values[0]); });
    });
  }

  // Draws one bar for each row, with its 95 % interval. A bar with `from` starts there, for example
  // where another bar ended. A label is above its bar, so that long labels have room on a narrow
  // screen.
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
    // Returns the length of a bar that ends at `end`, as text. On a logarithmic scale, the length
    // is a factor.
    function lengthText(d, end) {
      return text(!isValue(d.from) ? end : chart.log ? end / d.from : end - d.from);
    }
    function barText(d) { return lengthText(d, d.to); }
    groups.append("text").attr("class", "tick-label").attr("y", 13).text(function (d) {
      return shorter(d.label, Math.max(14, Math.floor(f.width / 7) - 8)) + "  " + barText(d);
    });
    groups.append("rect").attr("class", function (d) { return "bar " + d.kind; }).attr("data-label", function (d) { return d.label; })
        .attr("y", 18).attr("height", 9)
        .attr("x", function (d) { return Math.min(x(at(d)), x(d.to)); })
        .attr("width", function (d) { return Math.max(1, Math.abs(x(d.to) - x(at(d)))); });
    groups.filter(function (d) { return isValue(d.low) && isValue(d.high); }).append("path").attr("class", "bar-interval")
        .attr("d", function (d) { return "M" + x(d.low) + ",19v7M" + x(d.low) + ",22.5H" + x(d.high) + "M" + x(d.high) + ",19v7"; });
    hover(groups, function (d) {
      var interval = isValue(d.low) ? ", 95 % interval " + lengthText(d, d.low) + " to " + lengthText(d, d.high) : "";
      return d.label + ": " + barText(d) + interval +
          (d.kind === "modelled" ? "\nby the model: no trial measured it" : d.kind === "measured" ? "\nmeasured" : "");
    });
  }
  function percent(value) { return fixed(Math.round(1000 * value) / 10) + " %"; }
  function times(value) { return fixed(+value.toPrecision(3)) + "\u00d7"; }
  function drawBarCharts(canvas, list) {
    if (!(list || []).length) return;
    // Make all cells before drawing, because each further cell makes the other cells narrower.
    var grid = d3.select(canvas).append("div").attr("class", "bar-charts");
    var cells = list.map(function () { return grid.append("div").node(); });
    list.forEach(function (chart, i) {
      var isShare = chart.rows.every(function (d) { return !isValue(d.from); });
      drawBars(cells[i], chart, chart.log ? times : isShare ? percent : fixed);
    });
  }
  function drawImportance(canvas) {
    drawBarCharts(canvas, data.importance);
    if (canvas.childNodes.length) legend(canvas, [["bar parameter", "a parameter by itself"], ["bar pair", "a pair, beyond both by themselves"]]);
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

  var charts = {history: drawHistory, front: drawFront, parallel: drawParallel, slices: drawSlices, timeline: steptune.trialCharts.drawTimeline,
                trace: steptune.trialCharts.drawTrace,
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
