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

/// The most points of a trace that is kept.
inline constexpr std::size_t k_most_trace_points = 500;

/// How far a trial was at one moment. Counters are cumulative.
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
  double to_s = 0.0;    ///< the same
  bool operator==(const TracePhase&) const = default;
};

/// A trial's progress as it is kept for people to look at: between two points lies the mean pace.
struct ProgressTrace {
  std::vector<TracePoint> points;
  std::vector<TracePhase> phases;  ///< in order of their end
  bool operator==(const ProgressTrace&) const = default;
};

/// At most `most` (2 at least) of `points`: those without which samples over time would look most
/// different. Corners stay (the end of a warm-up, both ends of a stall, a changed level), points on
/// straight stretches go, and the first and the last point and the ones nearest to `kept_s` always
/// stay. Source: M. Visvalingam and J. D. Whyatt, "Line generalisation by repeated elimination of
/// points", The Cartographic Journal 30(1), 1993; which points go does not depend on the axes'
/// units.
[[nodiscard]] std::vector<TracePoint> thinned(std::vector<TracePoint> points, std::size_t most,
                                              std::span<const double> kept_s = {});

/// Keeps the trace of a running trial in bounded memory. Not thread safe.
class ProgressTracer {
 public:
  /// `started_s`: runner's clock. `samples_per_step`: where reports tell steps only; unknown: 1.
  ProgressTracer(double started_s, std::optional<double> samples_per_step)
      : started_s_(started_s), samples_per_step_(samples_per_step.value_or(1.0)) {}

  void add(const Report& report);

  /// The trace so far, in at most `k_most_trace_points` points. Time is the trial's own clock where
  /// it can be trusted (`ClockComparison`), else the time of receipt; the first point's is always
  /// the latter. `kept_s`: times since the start at which a point is to stay.
  [[nodiscard]] ProgressTrace trace(std::span<const double> kept_s = {}) const;

 private:
  struct Received {
    TracePoint by_receipt;
    double by_clock_s = 0.0;  ///< 0 where the trial tells none
  };
  void add_phase(const Report& report);
  void thin();

  double started_s_;
  double samples_per_step_;
  bool samples_told_ = false;
  std::vector<Received> points_;
  ClockComparison clock_;
  CounterRestart restart_;
  std::vector<TracePhase> phases_;
  std::optional<TracePhase> open_;
};

}  // namespace steptune
