// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace steptune {

/// Time in which a trial does something else than training steps: evaluation, a checkpoint, the end
/// of an epoch. It begins or ends at the report's clock, or where that is unknown when it was
/// received; counters of the same report were reached before it. A phase whose end is not told
/// lasts until the next counter, whose steps are in that time, too.
struct PhaseReport {
  std::string name;
  std::optional<double> seconds;  ///< it has just ended and took that long; absent: it begins now
  bool operator==(const PhaseReport&) const = default;
};

/// What a runner makes of a trial that it compares with the baseline all the time: it knows the
/// machine's level, which the reports of the trial alone do not show. In the unit of the counters.
struct ComparedRate {
  double seconds_per_sample = 0.0;
  double half_width_s = 0.0;  ///< of its 95 % interval, however few the steps; any may be the last
  bool operator==(const ComparedRate&) const = default;
};

/// One progress line of a trial. Counters are cumulative since the trial's start.
struct Report {
  double received_s = 0.0;  ///< runner's clock when the line was read
  /// Of the process that tells it, where several of a trial do; the counters are what all of them
  /// did together, as this one sees it.
  std::optional<int> global_rank;
  std::optional<double> clock_s;  ///< the trial's own monotonic clock; preferred for intervals
  std::optional<double> step;     ///< optimizer steps done
  std::optional<double> samples;  ///< samples processed
  bool samples_assumed = false;   ///< `samples` is `step` times what the study says a step holds
  std::map<std::string, double> metrics;  ///< loss, gradient noise scale, anything else; finite
  std::map<std::string, double> parts;    ///< cumulative seconds by part of a step: data, compute
  std::optional<PhaseReport> phase;
  /// So far; the measurement is this, and not what the reports scatter by.
  std::optional<ComparedRate> compared;
  /// Metrics whose last value was NaN or infinite (a diverged loss): absent from `metrics`.
  std::set<std::string> not_finite;
  /// What a hook in the program told of itself, each one JSON object (trial_runner/hooks), in
  /// order.
  std::vector<std::string> hook_events;
};

}  // namespace steptune
