// SPDX-License-Identifier: Apache-2.0
// Texts, marks, axes and scales that the charts share.
"use strict";

steptune.parts = (function () {
  var data;
  var tip = document.getElementById("tip");

  // Reads the page's data and returns it, together with the trials by number. Also hides the text
  // at the pointer, because the charts are redrawn.
  function load() {
    data = JSON.parse(document.getElementById("data").textContent);
    data.byNumber = {};
    data.trials.forEach(function (trial) { data.byNumber[trial.n] = trial; });
    tip.hidden = true;
    return data;
  }

  function isValue(value) { return typeof value === "number" && isFinite(value); }
  function isOver(trial) { return ["launching", "running", "interrupted"].indexOf(trial.status) < 0; }
  // True for a trial that repeats a configuration. Repeated runs are compared only with each other.
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
  // Returns about `count` round values of a scale and the function that formats them. Times on one
  // scale have the same unit.
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
  function shorter(text, most) {
    var half = Math.floor((most - 1) / 2);
    return text.length <= most ? text : text.slice(0, half) + "\u2026" + text.slice(text.length - half);
  }

  return {load: load, isValue: isValue, isOver: isOver, isRepeat: isRepeat, repeatText: repeatText, fixed: fixed,
          unitOf: unitOf, seconds: seconds, objectiveText: objectiveText, trialText: trialText, hover: hover,
          classOf: classOf, symbolPath: symbolPath, addMarks: addMarks, addIntervals: addIntervals, frame: frame,
          addAxes: addAxes, legend: legend, legendOfTrials: legendOfTrials, extent: extent, valueScale: valueScale,
          within: within, ticksOf: ticksOf, objectiveTicks: objectiveTicks, shorter: shorter};
})();
