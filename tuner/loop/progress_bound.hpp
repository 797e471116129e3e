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

/// Lower bound of a trial's seconds per sample, if the trial has too few steps for an interval. The
/// bound divides the time since the first report by the most samples that the trial may have
/// processed. These are the samples reported since then, and unreported samples: at most as many as
/// between two reports. Before the second report, the count of the first report bounds the
/// unreported samples.
class ProgressBound {
 public:
  /// `samples_per_step`: as in `MeasureOptions`.
  explicit ProgressBound(std::optional<double> samples_per_step);

  /// Adds a report. Returns true if the report shows that the program's counter has started again.
  /// The bound then also starts again, as the measurement does.
  bool add(const Report& report);

  /// True if a report had samples or steps.
  [[nodiscard]] bool has_begun() const { return count_ > 0; }
  /// Returns the fewest seconds per sample that the reports allow. Returns nullopt before the first
  /// report of samples or steps, and as long as only phases have followed that report.
  [[nodiscard]] std::optional<double> least_seconds_per_sample(double now_s) const;
  /// Returns the time since the first report, per sample; nullopt before the second report.
  [[nodiscard]] std::optional<double> seconds_per_sample() const;
  /// Returns the part of `seconds_per_sample` that phases took.
  [[nodiscard]] double phase_seconds_per_sample() const;
  /// Returns the difference in seconds per sample between the first and the second half of the
  /// samples; 0 if there are too few reports.
  [[nodiscard]] double difference_of_halves() const;

 private:
  /// A stored report. Every `stride_`th report is stored, so that the number of stored reports
  /// stays small.
  struct Point {
    double at_s = 0.0;
    double samples = 0.0;
  };
  [[nodiscard]] std::optional<double> samples_of(const Report& report);
  bool add_counters(const Report& report);
  void add_progress(double samples, double at_s);
  void end_phase(double seconds, double now_s);
  void keep(Point point);

  double samples_per_step_;
  bool samples_reported_ = false;  ///< if true, reports with steps alone are ignored
  CounterRestart restart_;
  std::size_t count_ = 0;  ///< number of reports with new samples or steps
  double first_s_ = 0.0;
  double first_samples_ = 0.0;
  double last_s_ = 0.0;
  double last_samples_ = 0.0;
  double most_between_reports_ = 0.0;  ///< largest number of samples between two reports
  double steps_since_s_ = 0.0;  ///< time of the first report, or end of the latest phase after it
  double phases_s_ = 0.0;       ///< seconds of phases that ended since the first report
  std::optional<double> phase_began_s_;
  double supposed_s_ = 0.0;  ///< part of `phases_s_` assumed for a phase without a reported end
  std::vector<Point> points_;
  std::size_t stride_ = 1;
};

/// Returns the measurement of a trial whose time is over. If the trial has no steady state, its
/// seconds per sample so far count. The half-width of their interval is the largest of:
/// - a tenth of the value;
/// - the distance to the least value that the samples reported by `now_s` allow;
/// - the distance to the value that includes a slow start;
/// - the measurement's own half-width; if it has none, the difference between its halves.
///
/// The status does not change. If nothing is known about the speed, returns the measurement
/// unchanged.
[[nodiscard]] Measurement unsteady_at_limit(Measurement measurement, const ProgressBound& progress,
                                            double now_s);

/// Marks a measurement as steady if its speed has an interval, so that it can be compared.
[[nodiscard]] Measurement marked_steady(Measurement measurement);

/// Returns a text with the bound of the speed if the trial was too slow to be measured. Returns
/// nullopt if the trial was measured, or if no bound is known.
[[nodiscard]] std::optional<std::string> why_slow(const Measurement& measurement,
                                                  const ProgressBound& progress, double now_s,
                                                  const UnitName& unit = {});

}  // namespace steptune
