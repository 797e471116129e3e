// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What a guard judges: a metric over a window of reports, and how sure that is.
struct GuardedValue {
  double value = 0.0;           ///< NaN where the metric was no finite number
  double standard_error = 0.0;  ///< 0 where the reports were too few to know
  double degrees_of_freedom = 0.0;
};
/// By `judged_metric`.
using GuardedValues = std::map<std::string, GuardedValue>;

/// Mean of successive values with its standard error: their scatter about a straight line (a loss
/// falls while it is watched), widened for the correlation of neighbours as that of a first-order
/// autoregressive process; known from three values on. `of_last`: the last value, with the error of
/// a single one, known from five on.
[[nodiscard]] GuardedValue window_value(const std::vector<double>& values, bool of_last);

/// Takes down what a running trial's guards judge. With `after_samples` that is the mean over the
/// reports from there on until a quarter more samples and at least five reports have come, so that
/// trials are compared at the same amount of training however far they run; without it the latest
/// value. One report is one minibatch's loss: at 5 % noise two equal configurations differ by more
/// than 2 % in 39 of 100 cases.
class GuardWindows {
 public:
  explicit GuardWindows(std::vector<Guard> guards);

  /// After each report: `current` is the measurement with it.
  void add(const Measurement& current, const Report& told);

  /// True if every guard's window is full, or its value can only be known at the end.
  [[nodiscard]] bool are_full() const;
  /// Whether a trial that has processed `total_samples` is still to reach the end of a window.
  /// Where its reports have been fewer than five, that is up to half of `after_samples` later.
  [[nodiscard]] bool awaits_samples(double total_samples) const;
  /// Values that will not change any more: of full windows, and those that are no numbers.
  [[nodiscard]] GuardedValues settled() const;
  /// All values as far as they are known.
  [[nodiscard]] GuardedValues all() const;

 private:
  struct Window {
    std::vector<double> values;
    bool full = false;
    bool not_finite = false;
  };
  [[nodiscard]] GuardedValues values(bool settled_only) const;

  std::vector<Guard> guards_;
  std::vector<Window> windows_;  ///< by guard
};

}  // namespace steptune
