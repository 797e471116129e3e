// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// How much steps vary within the trials of a study, from those that were measured before: what a
/// trial of 30 steps can hardly know of itself (a slow step in twenty that it has not met, steps
/// that are alike for longer than it lasts). As the relative variance of a mean over a second,
/// which falls with the length of what the mean is of (time-average variance constant: N. M.
/// Steiger and J. R. Wilson, "Convergence properties of the batch means method for simulation
/// output analysis", INFORMS J. on Computing 13(4), 2001).
class UsualNoise {
 public:
  /// Counts in the weight of its steps, 30 of them for a half: a longer trial knows it better.
  /// Without a steady state it says nothing, nor does one that took turns in a shared program. What
  /// interrupts it more seldom than every 64 steps does not count: trials may well end before it
  /// comes, and are compared without it.
  void add(const Measurement& measurement);
  /// Weighted mean, in seconds: a mean over T seconds has this over T as its relative variance. 0
  /// before any trial said something.
  [[nodiscard]] double variance_s() const { return weight_ > 0.0 ? sum_s_ / weight_ : 0.0; }

 private:
  double sum_s_ = 0.0;
  double weight_ = 0.0;
};

/// Half-width of a 95 % interval around a mean over `seconds`, from that of its own `intervals`
/// reports and the usual variance (shrinkage, in the weight of 30 reports); never less than its
/// own.
[[nodiscard]] double with_usual_noise(double half_width_s, double mean_s, double seconds,
                                      std::size_t intervals, double usual_variance_s);

}  // namespace steptune
