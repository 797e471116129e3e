// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {

/// Change of the machine's speed in the course of a study. The change is estimated from runs of the
/// baseline: the first run, and the sentinels between search trials.
///
/// Model: the logarithm of the baseline's objective is a random walk over the numbers of trials.
/// The walk is observed with the error of each run and with the variation between launches (the
/// local level model: A. C. Harvey, "Forecasting, Structural Time Series Models and the Kalman
/// Filter", 1989). The variance of the walk's steps is the most likely variance. The launch
/// variation is integrated out over the prior `LaunchVariation`. Between two runs the level is
/// interpolated. After the last run it stays constant, with an error that grows.
///
/// If a walk does not explain the runs clearly better than the launch variation does, there is no
/// drift. All levels are then 0, without error.
class MachineDrift {
 public:
  /// Makes an object without drift.
  MachineDrift() = default;
  /// Uses the measured baselines and sentinels among `trials`, which are in order of number. Leaves
  /// out runs that other programs disturbed much (`without_disturbed`). The first objective must be
  /// a time or a cost.
  explicit MachineDrift(const std::vector<TrialRecord>& trials);

  [[nodiscard]] bool is_significant() const { return !points_.empty(); }

  /// Returns the natural logarithm of the machine's slowdown at this trial, relative to the
  /// baseline's run, with its standard error. A comparison of two trials adds both errors, which is
  /// too much for trials that follow each other closely.
  [[nodiscard]] MachineLevel at(std::int64_t number) const;

  /// Returns the number of runs behind the estimate: the baseline and its sentinels.
  [[nodiscard]] int runs() const { return runs_; }
  /// Returns the logarithm of the slowdown that differs most from 0.
  [[nodiscard]] double largest_log_ratio() const;

  /// Returns the scatter of launches after the drift is removed, as shares. Has no degrees of
  /// freedom if there is no drift.
  [[nodiscard]] const Scatter& launches() const { return launches_; }

 private:
  /// Level at the launch of a run, given all runs. Variances are in units of `scale_`.
  struct Point {
    double at = 0.0;  ///< trial number
    double level = 0.0;
    double variance = 0.0;
    double covariance_with_next = 0.0;
  };

  std::vector<Point> points_;    ///< empty: no drift
  double walk_per_trial_ = 0.0;  ///< variance of a step, in units of `scale_`
  double scale_ = 0.0;           ///< variance of launches
  Scatter launches_;
  int runs_ = 0;
};

/// Returns a time or a cost, or its standard error, as it would have been when the baseline ran.
[[nodiscard]] double without_drift(double value, const MachineLevel& level);

}  // namespace steptune
