// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Scatter of steps within a study's earlier trials. A trial of 30 steps can hardly know its own.
/// It may have missed a slow step in twenty, or steps may be alike for longer than it lasts. Stored
/// as the relative variance of a mean over one second, which falls with the averaging time
/// (time-average variance constant: N. M. Steiger and J. R. Wilson, "Convergence properties of the
/// batch means method for simulation output analysis", INFORMS J. on Computing 13(4), 2001).
class UsualNoise {
 public:
  /// Adds a trial. Its weight grows with its steps (a half at 30), because a longer trial knows its
  /// scatter better. Ignores trials without a steady state and those that took turns in a shared
  /// program. Ignores phases rarer than every 64 steps: trials may end before one comes, and are
  /// compared without them.
  void add(const Measurement& measurement);
  /// Returns the weighted mean, in seconds. A mean over T seconds has the relative variance of this
  /// divided by T. 0 before the first usable trial.
  [[nodiscard]] double variance_s() const { return weight_ > 0.0 ? sum_s_ / weight_ : 0.0; }

 private:
  double sum_s_ = 0.0;
  double weight_ = 0.0;
};

/// Combines a trial's own half-width (95 %, around a mean over `seconds`, from `intervals` reports)
/// with the usual variance, which has the weight of 30 reports (shrinkage). Never returns less than
/// its own half-width.
[[nodiscard]] double with_usual_noise(double half_width_s, double mean_s, double seconds,
                                      std::size_t intervals, double usual_variance_s);

}  // namespace steptune
