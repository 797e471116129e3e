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

/// Least seconds per sample of a trial that has too few steps for an interval, from its number of
/// samples alone. Since the first report, the trial has processed the samples counted since then,
/// and at most one report's worth more. Until there is a second report, the first one shows how
/// many samples a report is worth.
class ProgressBound {
 public:
  /// `samples_per_step`: as in `MeasureOptions`.
  explicit ProgressBound(std::optional<double> samples_per_step);

  /// Adds a report. Returns true if the report shows that the count began again. The bound then
  /// starts there, as the measurement does.
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
  /// A stored report: every `stride_`th is stored, so that there are few.
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
  bool samples_reported_ = false;  ///< after that, lines with steps alone are ignored
  CounterRestart restart_;
  std::size_t count_ = 0;  ///< reports with new samples or steps
  double first_s_ = 0.0;
  double first_samples_ = 0.0;
  double last_s_ = 0.0;
  double last_samples_ = 0.0;
  double most_between_reports_ = 0.0;  ///< samples
  double steps_since_s_ = 0.0;  ///< time of the first report, or end of the latest phase after it
  double phases_s_ = 0.0;       ///< phases that ended since the first report
  std::optional<double> phase_began_s_;
  double supposed_s_ = 0.0;  ///< part of `phases_s_` assumed for a phase without a reported end
  std::vector<Point> points_;
  std::size_t stride_ = 1;
};

/// Returns the measurement of a trial whose time is over. If the trial has no steady state, its
/// rate so far counts, with a wide interval:
/// - at least a tenth of the rate;
/// - down to the least rate that the samples done by `now_s` allow;
/// - up to the rate that includes a slow start;
/// - if the measurement has no interval, also the difference between its halves.
///
/// The status does not change. Without any rate so far, returns the measurement unchanged.
[[nodiscard]] Measurement unsteady_at_limit(Measurement measurement, const ProgressBound& progress,
                                            double now_s);

/// Marks a measurement as steady if its rate has an interval, so that the rate can be compared.
[[nodiscard]] Measurement marked_steady(Measurement measurement);

/// Returns a text that the trial was too slow for more than a bound of its speed; nullopt if the
/// trial was measured, or if no bound is known.
[[nodiscard]] std::optional<std::string> why_slow(const Measurement& measurement,
                                                  const ProgressBound& progress, double now_s,
                                                  const UnitName& unit = {});

}  // namespace steptune
