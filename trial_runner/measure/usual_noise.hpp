// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Scatter of steps in a study's earlier trials. A trial of 30 steps shows its own scatter poorly:
/// it may have missed slow steps that come once in twenty, or all its steps may have been alike.
/// The unit is the relative variance of a mean over one second. The variance of a longer mean is
/// smaller in proportion to its seconds (time-average variance constant: N. M. Steiger and J. R.
/// Wilson, "Convergence properties of the batch means method for simulation output analysis",
/// INFORMS J. on Computing 13(4), 2001).
class UsualNoise {
 public:
  /// Adds a trial. Its weight grows with its steps (one half at 30 steps), because a longer trial
  /// shows its scatter better. Ignores trials without a steady state, and trials that took turns in
  /// a shared program. Ignores phases that come less than once in 64 steps: a trial may end before
  /// one comes, and trials are compared without them.
  void add(const Measurement& measurement);
  /// Returns the weighted mean over all trials: a mean over T seconds has the relative variance
  /// `variance_s() / T`. Returns 0 before the first usable trial.
  [[nodiscard]] double variance_s() const { return weight_ > 0.0 ? sum_s_ / weight_ : 0.0; }

 private:
  double sum_s_ = 0.0;
  double weight_ = 0.0;
};

/// Widens a trial's half-width if earlier trials scattered more (shrinkage: the usual variance has
/// the weight of 30 reports). `half_width_s` belongs to the 95 % confidence interval around
/// `mean_s`, from `intervals` reports over `seconds`. Never returns less than `half_width_s`.
[[nodiscard]] double with_usual_noise(double half_width_s, double mean_s, double seconds,
                                      std::size_t intervals, double usual_variance_s);

}  // namespace steptune
