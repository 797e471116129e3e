// SPDX-License-Identifier: Apache-2.0

// Places each launch of a trial in the timeline. Launches that
// overlap in time are in different lanes. The timeline is cut into rows of equal duration, like
// lines of text, so that even a thousand trials are readable.
"use strict";

steptune.timeline = (function () {
  // Returns all launches of the trials. A running launch ends at the latest known time.
  function launches(trials) {
    var latest = d3.max(trials, function (d) { return d3.max(d3.merge(d.launches)) || 0; });
    return d3.merge(trials.map(function (trial) {
      return trial.launches.map(function (times, i) {
        var to = times[1] === null ? latest : times[1];
        return {trial: trial, from: times[0], to: Math.max(times[0], to), isLast: i === trial.launches.length - 1};
      });
    }));
  }

  function machineOf(trial) { return trial.job || trial.allocation || null; }

  // Puts each launch into a free lane for the same kind of machines. Prefers the lane of the same
  // pool or allocation, otherwise the lane that became free last. A time in which machines were
  // kept but not used (`unused`) follows the trial that used these machines.
  function lanes(launches, unused) {
    var free = [];
    // Clocks are read one after the other, so ignore overlaps of 0.05 s.
    function isFree(lane, machine, from) {
      return lane.at <= from + 0.05 && (lane.heldTo <= from + 0.05 || lane.machine === machine);
    }
    function placed(launch) {
      var machines = launch.trial.instances || "", machine = machineOf(launch.trial);
      var best = -1;
      function rank(lane) { return machine && lane.machine === machine ? Infinity : lane.at; }
      free.forEach(function (lane, i) {
        if (lane.machines !== machines || !isFree(lane, machine, launch.from)) return;
        if (best < 0 || rank(lane) > rank(free[best])) best = i;
      });
      if (best < 0) best = free.push({machines: machines, at: -Infinity, heldTo: -Infinity}) - 1;
      var lane = free[best];
      // For a warm start, the machine was kept since its last trial.
      launch.idleFrom = launch.trial.start === "warm" && lane.at > -Infinity ? lane.at : null;
      lane.at = Math.max(launch.to, lane.at);
      lane.machine = machine;
      return best;
    }
    function held(time) {
      var own = -1, other = -1;
      free.forEach(function (lane, i) {
        if (lane.machine === time.machine) own = i;
        if (lane.machines === "" && isFree(lane, time.machine, time.from)) other = i;
      });
      var at = own >= 0 ? own : other >= 0 ? other : free.push({machines: "", at: -Infinity}) - 1;
      free[at].heldTo = time.to;
      free[at].machine = time.machine;
      return at;
    }
    launches.sort(function (a, b) { return a.from - b.from || a.trial.n - b.trial.n; });
    byTime(launches, unused).forEach(function (d) { d.lane = d.trial ? placed(d) : held(d); });
    return free.map(function (lane) { return lane.machines; });
  }

  function byTime(launches, unused) {
    return launches.concat(unused).sort(function (a, b) { return a.from - b.from; });
  }

  // Returns the jobs that ran more than one trial, one after the other.
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

  // Returns rows of `span` seconds. Skips long times in which nothing ran or was kept.
  function rows(times, span) {
    var result = [], end = -Infinity;
    var pause = Math.max(60, span / 4);
    times.forEach(function (time) {
      var last = result[result.length - 1];
      if (!last || time.from > end + pause) {
        result.push({from: time.from, pause: last ? time.from - end : 0});
      }
      end = Math.max(end, time.to);
      for (last = result[result.length - 1]; end > last.from + span; last = result[result.length - 1]) {
        result.push({from: last.from + span, pause: 0});
      }
    });
    return result;
  }

  // Returns the seconds in which anything ran or was kept.
  function busy(times) {
    var total = 0, end = -Infinity;
    times.forEach(function (time) {
      total += Math.max(0, time.to - Math.max(time.from, end));
      end = Math.max(end, time.to);
    });
    return total;
  }

  return {launches: launches, lanes: lanes, byTime: byTime, jobs: jobs, rows: rows, busy: busy};
})();
