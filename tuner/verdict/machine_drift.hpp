// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/history/history.hpp"

namespace steptune {

/// How the speed of the machine changed in the course of a study, as the runs of its baseline tell:
/// the first one, and those that return as sentinels between the trials of the search.
///
/// The logarithm of the baseline's objective is a random walk over the numbers of trials, seen with
/// the error of each run and with what launches differ by (the local level model: A. C. Harvey,
/// "Forecasting, Structural Time Series Models and the Kalman Filter", 1989). How fast it walks is
/// chosen by the likelihood; what launches differ by is integrated out over the prior of
/// `LaunchVariation`. Between two runs the level is interpolated, after the last one it stays as it
/// is, with an error that grows; nothing is extrapolated.
///
/// Unless a walk explains the runs clearly better than launches that differ, there is no drift: all
/// levels are 0, without error.
class MachineDrift {
 public:
  /// None is known.
  MachineDrift() = default;
  /// Takes the measured baselines and sentinels out of `trials`, which are in order of number, but
  /// for those that others disturbed much (`without_disturbed`).
  /// Their first objective is a time or a cost.
  explicit MachineDrift(const std::vector<TrialRecord>& trials);

  [[nodiscard]] bool is_significant() const { return !points_.empty(); }

  /// By how much longer a trial of this number took because of the machine than it would have taken
  /// when the baseline ran. The error is that of the level then: whoever compares two trials adds
  /// both, which is too much for neighbours.
  [[nodiscard]] MachineLevel at(std::int64_t number) const;

  /// Runs that tell: the baseline and its sentinels.
  [[nodiscard]] int runs() const { return runs_; }
  /// The level that is farthest from the baseline's.
  [[nodiscard]] double largest_log_ratio() const;

  /// What is left of the runs' differences once the drift is taken off: the sum of squares of what
  /// launches differ by, as shares, and how many degrees of freedom it has. Nothing without a
  /// drift.
  [[nodiscard]] double launch_squares() const { return launch_squares_; }
  [[nodiscard]] double launch_freedom() const { return is_significant() ? runs_ - 1.0 : 0.0; }

 private:
  /// The level when a run was launched, given all runs. Variances are in units of `scale_`.
  struct Point {
    double at = 0.0;  ///< trial number
    double level = 0.0;
    double variance = 0.0;
    double covariance_with_next = 0.0;
  };

  std::vector<Point> points_;    ///< empty: no drift
  double walk_per_trial_ = 0.0;  ///< variance of a step, in units of `scale_`
  double scale_ = 0.0;           ///< variance of launches
  double launch_squares_ = 0.0;
  int runs_ = 0;
};

/// A value that takes longer the slower the machine is (a time, or what it costs), and its standard
/// error, as they would have been when the baseline ran.
[[nodiscard]] double without_drift(double value, const MachineLevel& level);

}  // namespace steptune
