// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Metric over a window of reports, as a guard judges it, with its standard error.
struct GuardedValue {
  double value = 0.0;           ///< NaN if the metric was not a finite number
  double standard_error = 0.0;  ///< 0 if there were too few reports to know
  double degrees_of_freedom = 0.0;
};
/// Guarded values, keyed by `judged_metric`.
using GuardedValues = std::map<std::string, GuardedValue>;

/// Returns the mean of successive values with its standard error. The error is the scatter about a
/// straight line, because a loss falls during the trial. The error is widened for autocorrelation
/// as in a first-order autoregressive process. The error is known for three values or more.
/// `of_last`: returns the last value with the error of a single value, which is known for five
/// values or more.
[[nodiscard]] GuardedValue window_value(const std::vector<double>& values, bool of_last);

/// Collects the values that a running trial's guards judge.
///
/// With `after_samples`, the value is a mean over reports. The window starts at that sample count.
/// It ends when a quarter more samples and at least five reports have come. So trials are compared
/// at the same amount of training, however long they run. Without `after_samples`, the value is the
/// latest reported one.
///
/// A single report is too noisy to judge, because it is the loss of one minibatch. With 5 % noise,
/// a configuration equal to the baseline looks more than 2 % worse in 39 of 100 cases.
class GuardWindows {
 public:
  explicit GuardWindows(std::vector<Guard> guards);

  /// Adds a report. `current`: the measurement that includes this report.
  void add(const Measurement& current, const Report& report);

  /// True if each guard has its value. Ignores the guard on memory, known only at the end.
  [[nodiscard]] bool are_full() const;
  /// True if a trial that has processed `total_samples` has not reached the end of a window yet. A
  /// window with one to four reports may end later, by up to half of `after_samples`. Ignores
  /// guards over launches.
  [[nodiscard]] bool awaits_samples(double total_samples) const;
  /// Returns values that cannot change any more: the values of full windows, NaN included.
  [[nodiscard]] GuardedValues settled() const;
  /// Returns all values known so far; for guards over launches, only those of full windows.
  [[nodiscard]] GuardedValues all() const;

 private:
  struct Window {
    std::vector<double> values;
    bool full = false;
    bool not_finite = false;
  };
  [[nodiscard]] GuardedValues values(bool settled_only) const;

  std::vector<Guard> guards_;
  std::vector<Window> windows_;  ///< one for each guard
};

}  // namespace steptune
