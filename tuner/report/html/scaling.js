// SPDX-License-Identifier: Apache-2.0
// Draws time against the number of machines on logarithmic scales: points with intervals, a law's
// curve with its band, and ideal scaling.
"use strict";

steptune.scaling = (function () {
  function draw(canvas, data, tools) {
    if (!data || data.points.length < 2) return;
    var points = data.points;
    var first = points[0], last = points[points.length - 1];
    var curve = data.curve;
    var f = tools.frame(canvas, 300, "Time against the number of machines");
    var low = d3.min(points.concat(curve), function (d) { return d.low; });
    var high = d3.max(points.concat(curve), function (d) { return d.high; });
    if (data.ideal) low = Math.min(low, first.value * first.count / last.count);
    // A count of zero has no logarithm.
    var x = (first.count > 0 ? d3.scale.log() : d3.scale.linear()).domain([first.count, last.count]).range([12, f.width - 12]);
    var y = d3.scale.log().domain([low / 1.08, high * 1.08]).range([f.height, 0]);
    tools.addAxes(f, x, y, data.over, data.time, function () {
      return {values: points.map(function (d) { return d.count; }), text: String};
    }, function (n) { return tools.ticksOf(y, n, tools.seconds, true); });
    if (curve.length) {
      f.g.append("path").attr("class", "scaling-band").attr("d", d3.svg.area().x(function (d) { return x(d.count); })
          .y0(function (d) { return y(d.low); }).y1(function (d) { return y(d.high); })(curve));
      f.g.append("path").attr("class", "best-so-far").attr("d", d3.svg.line().x(function (d) { return x(d.count); })
          .y(function (d) { return y(d.value); })(curve));
    }
    if (data.ideal) {
      f.g.append("line").attr("class", "reference scaling-ideal").attr("x1", x(first.count)).attr("y1", y(first.value))
          .attr("x2", x(last.count)).attr("y2", y(first.value * first.count / last.count));
    }
    f.g.append("g").selectAll("line").data(points).enter().append("line").attr("class", "interval")
        .attr("x1", function (d) { return x(d.count); }).attr("x2", function (d) { return x(d.count); })
        .attr("y1", function (d) { return y(d.low); }).attr("y2", function (d) { return y(d.high); });
    var marks = f.g.append("g").selectAll("path").data(points).enter().append("path")
        .attr("class", "mark completed").attr("data-trial", function (d) { return d.trial; })
        .attr("d", d3.svg.symbol().type("circle").size(46)())
        .attr("transform", function (d) { return "translate(" + x(d.count) + "," + y(d.value) + ")"; })
        .on("click", function (d) { steptune.select(d.trial, true); });
    tools.hover(marks, function (d) { return d.text; });
  }
  return {draw: draw};
})();
