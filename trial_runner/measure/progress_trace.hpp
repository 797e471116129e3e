// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

/// Most points of a stored trace.
inline constexpr std::size_t k_most_trace_points = 500;
/// Most phases of a trace, and most other events of one kind that are stored beside it. More could
/// not be told apart in a drawing.
inline constexpr std::size_t k_most_trace_events = 200;

/// Progress of a trial at one moment. Counters are cumulative.
struct TracePoint {
  double at_s = 0.0;  ///< since the trial's start
  double samples = 0.0;
  double steps = 0.0;
  bool operator==(const TracePoint&) const = default;
};

/// A phase that the trial reported.
struct TracePhase {
  std::string name;
  double from_s = 0.0;  ///< since the trial's start
  double to_s = 0.0;    ///< since the trial's start
  bool operator==(const TracePhase&) const = default;
};

/// A trial's progress, stored for drawing. Between two points only the mean speed is known.
struct ProgressTrace {
  std::vector<TracePoint> points;
  std::vector<TracePhase> phases;  ///< in order of their ends
  bool operator==(const ProgressTrace&) const = default;
};

/// Reduces `points` to at most `most` (at least 2), so that the curve of samples over time changes
/// least. Keeps corners of the curve: the end of a warm-up, both ends of a stall, a change of
/// speed. Drops points on straight stretches. Always keeps the first and the last point, and for
/// each time in `kept_s` the nearest point. The units of the axes do not affect the choice. Source:
/// M. Visvalingam and J. D. Whyatt, "Line generalisation by repeated elimination of points", The
/// Cartographic Journal 30(1), 1993.
[[nodiscard]] std::vector<TracePoint> thinned(std::vector<TracePoint> points, std::size_t most,
                                              std::span<const double> kept_s = {});

/// Records the trace of a running trial in bounded memory. Not thread safe.
class ProgressTracer {
 public:
  /// `started_s`: the trial's start on the runner's clock. `samples_per_step` converts steps to
  /// samples if reports contain only steps. If it is unknown, a step counts as one sample.
  ProgressTracer(double started_s, std::optional<double> samples_per_step)
      : started_s_(started_s), samples_per_step_(samples_per_step.value_or(1.0)) {}

  void add(const Report& report);

  /// Returns the trace so far, in at most `k_most_trace_points` points. The first point has the
  /// time at which its report was received. Later points follow the trial's own clock if it can be
  /// trusted (`ClockComparison`). Otherwise they also have the times at which their reports were
  /// received. `kept_s`: times since the start at which to keep a point.
  [[nodiscard]] ProgressTrace trace(std::span<const double> kept_s = {}) const;

 private:
  void add_phase(const Report& report);
  /// Returns all points, with the times at which their reports were received.
  [[nodiscard]] std::vector<TracePoint> received() const;
  /// Drops half of the points.
  void thin();

  double started_s_;
  double samples_per_step_;
  bool samples_reported_ = false;  ///< false: all reports so far have only steps
  std::vector<ProgressPoint> points_;
  ClockComparison clock_;
  CounterRestart counter_restart_;
  std::vector<TracePhase> phases_;
  std::optional<TracePhase> open_phase_;  ///< phase that has begun and not ended
};

}  // namespace steptune
