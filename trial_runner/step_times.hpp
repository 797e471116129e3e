// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/rng.hpp"

namespace steptune {

/// Noise of replayed steps: relative to the steady step, autocorrelated, slower at the beginning.
struct StepNoise {
  double step = 0.01;            ///< relative standard deviation of a step
  double correlation = 0.3;      ///< of neighbouring steps (first-order autoregressive)
  double run = 0.0;              ///< relative standard deviation from run to run
  double warmup_steps = 10.0;    ///< over which the slowness of the first step fades, by e-fold
  double warmup_slowdown = 1.0;  ///< the first step takes so many steady steps longer
  /// Mean number of steps from one stall to the next, which come at random (Poisson); 0: none.
  double stall_period_steps = 0.0;
  double stall_steps = 0.0;  ///< so many steady steps longer takes one with a stall
};

/// The durations of a run's steps, in steady steps of 1.
class StepTimes {
 public:
  StepTimes(const StepNoise& noise, Rng& rng);

  /// How long the next `steps` steps (at least 1) take together. Always positive. Cost does not
  /// grow with `steps`: many at once are drawn as one normal number with the variance of their sum.
  [[nodiscard]] double take(double steps, Rng& rng);

 private:
  [[nodiscard]] double noise_of(double steps, Rng& rng);
  [[nodiscard]] double stalls_until(double step, Rng& rng);

  StepNoise noise_;
  double run_factor_ = 1.0;
  double state_ = 0.0;
  double done_ = 0.0;
  double next_stall_ = 0.0;  ///< the step in which it comes
};

}  // namespace steptune
