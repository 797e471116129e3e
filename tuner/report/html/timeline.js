// SPDX-License-Identifier: Apache-2.0
// Where each launch of a trial stands in the timeline: a lane per place that trials take at the same time, and rows of
// equal length, one below the other as lines of a text, so that a thousand trials are as readable as ten.
"use strict";

steptune.timeline = (function () {
  // All launches of the trials; those that go on end with the latest moment that is known of.
  function launches(trials) {
    var latest = d3.max(trials, function (d) { return d3.max(d3.merge(d.launches)) || 0; });
    return d3.merge(trials.map(function (trial) {
      return trial.launches.map(function (times, i) {
        var to = times[1] === null ? latest : times[1];
        return {trial: trial, from: times[0], to: Math.max(times[0], to), isLast: i === trial.launches.length - 1};
      });
    }));
  }

  // A launch takes the place on the same machines that became free last: a warm pool, or the only place there is.
  function lanes(launches) {
    var free = [];
    launches.sort(function (a, b) { return a.from - b.from || a.trial.n - b.trial.n; });
    launches.forEach(function (launch) {
      var machines = launch.trial.instances || "";
      var best = -1;
      function rank(lane) { return launch.trial.job && lane.job === launch.trial.job ? Infinity : lane.at; }
      free.forEach(function (lane, i) {
        // Clocks are read one after the other; what overlaps by so little does not.
        if (lane.machines !== machines || lane.at > launch.from + 0.05) return;
        if (best < 0 || rank(lane) > rank(free[best])) best = i;
      });
      if (best < 0) best = free.push({machines: machines, at: -Infinity}) - 1;
      // A warm start is on a machine that was kept since its last trial.
      launch.idleFrom = launch.trial.start === "warm" && free[best].at > -Infinity ? free[best].at : null;
      launch.lane = best;
      free[best].at = Math.max(launch.to, free[best].at);
      free[best].job = launch.trial.job || null;
    });
    return free.map(function (lane) { return lane.machines; });
  }

  // Jobs that ran several launches in turn.
  function jobs(launches) {
    var byName = {};
    launches.forEach(function (launch) {
      var name = launch.isLast && launch.trial.job;
      if (!name) return;
      var job = byName["job " + name];
      if (!job) byName["job " + name] = job = {lane: launch.lane, from: launch.from, to: launch.to, trials: []};
      job.to = Math.max(job.to, launch.to);
      job.trials.push(launch.trial.n);
    });
    return d3.values(byName).filter(function (job) { return job.trials.length > 1; });
  }

  // Rows of `span` seconds; time in which nothing ran for long is left out between two rows.
  function rows(launches, span) {
    var result = [], end = -Infinity;
    var pause = Math.max(60, span / 4);
    launches.forEach(function (launch) {
      var last = result[result.length - 1];
      if (!last || launch.from > end + pause) {
        result.push({from: launch.from, pause: last ? launch.from - end : 0});
      }
      end = Math.max(end, launch.to);
      for (last = result[result.length - 1]; end > last.from + span; last = result[result.length - 1]) {
        result.push({from: last.from + span, pause: 0});
      }
    });
    return result;
  }

  // Seconds in which at least one launch ran.
  function busy(launches) {
    var total = 0, end = -Infinity;
    launches.forEach(function (launch) {
      total += Math.max(0, launch.to - Math.max(launch.from, end));
      end = Math.max(end, launch.to);
    });
    return total;
  }

  return {launches: launches, lanes: lanes, jobs: jobs, rows: rows, busy: busy};
})();
