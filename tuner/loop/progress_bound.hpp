// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/report.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

/// What the mere number of samples says of a trial whose steps are too few for an interval: since
/// the first report, what it has done and at most one report's worth more took this long. How much
/// that is, the first report tells until there is a second.
class ProgressBound {
 public:
  /// As in `MeasureOptions`.
  explicit ProgressBound(std::optional<double> samples_per_step);

  /// A count that begins again is bounded from there, as it is measured: true where this report
  /// shows that it has.
  bool add(const Report& report);

  /// Whether a report has told samples or steps.
  [[nodiscard]] bool has_begun() const { return count_ > 0; }
  /// Nothing before the first such report, and while that was followed by phases alone.
  [[nodiscard]] std::optional<double> least_seconds_per_sample(double now_s) const;
  /// Samples since the first report over the time that they took; nothing before the second one.
  [[nodiscard]] std::optional<double> seconds_per_sample() const;
  /// What phases added to that.
  [[nodiscard]] double phase_seconds_per_sample() const;
  /// By how much the seconds per sample of the samples' first half and of their second differ; 0
  /// where there are too few reports.
  [[nodiscard]] double difference_of_halves() const;

 private:
  /// A report that is kept: every `stride_`th, few in all.
  struct Point {
    double at_s = 0.0;
    double samples = 0.0;
  };
  [[nodiscard]] std::optional<double> samples_of(const Report& report);
  bool add_counters(const Report& report);
  void go_on(double samples, double at_s);
  void end_phase(double seconds, double now_s);
  void keep(Point point);

  double samples_per_step_;
  bool samples_told_ = false;  ///< from then on, lines that only tell steps are ignored
  CounterRestart restart_;
  std::size_t count_ = 0;  ///< reports that told of further samples or steps
  double first_s_ = 0.0;
  double first_samples_ = 0.0;
  double last_s_ = 0.0;
  double last_samples_ = 0.0;
  double most_between_reports_ = 0.0;  ///< samples
  double steps_since_s_ = 0.0;  ///< when the first report came, or the latest phase after it ended
  double phases_s_ = 0.0;       ///< of those that ended since the first report
  std::optional<double> phase_began_s_;
  double supposed_s_ = 0.0;  ///< of `phases_s_`, of a phase that has not told its end
  std::vector<Point> points_;
  std::size_t stride_ = 1;
};

/// The measurement of a trial whose time is over. Where it has no steady state, its rate so far
/// counts, with an interval as wide as what is not known: at least a tenth, and down to what the
/// samples done by `now_s` allow and up to what a slow start could be typical of; without an
/// interval of its own also what its halves differ by. Its status stays what it is; without any
/// rate so far it is returned as it is.
[[nodiscard]] Measurement unsteady_at_limit(Measurement measurement, const ProgressBound& progress,
                                            double now_s);

/// The same measurement, its rate taken for one that may be compared where it has an interval.
[[nodiscard]] Measurement as_if_steady(Measurement measurement);

/// For people: that a trial was too slow for more than a bound; nothing where it was measured, or
/// has told nothing that a bound follows from.
[[nodiscard]] std::optional<std::string> why_slow(const Measurement& measurement,
                                                  const ProgressBound& progress, double now_s,
                                                  const UnitName& unit = {});

}  // namespace steptune
