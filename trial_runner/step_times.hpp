// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/rng.hpp"

namespace steptune {

/// Noise of replayed steps: relative to the steady step, autocorrelated, with a slow start.
struct StepNoise {
  double step = 0.01;            ///< relative standard deviation of a step
  double correlation = 0.3;      ///< of neighbouring steps (first-order autoregressive)
  double run = 0.0;              ///< relative standard deviation from run to run
  double warmup_steps = 10.0;    ///< steps over which the start's slowness falls by the factor e
  double warmup_slowdown = 1.0;  ///< extra time of the first step, as a multiple of a steady step
  /// Mean number of steps between stalls, which come at random (Poisson); 0: no stalls.
  double stall_period_steps = 0.0;
  double stall_steps = 0.0;  ///< extra time of a step with a stall, as a multiple of a steady step
};

/// Draws the durations of a run's steps. A steady step takes 1.
class StepTimes {
 public:
  StepTimes(const StepNoise& noise, Rng& rng);

  /// Returns the time of the next `steps` steps (at least 1) together. Always positive. Draws more
  /// than 16 steps as one normal number with the variance of their sum. So the cost grows only with
  /// the number of stalls.
  [[nodiscard]] double take(double steps, Rng& rng);

 private:
  [[nodiscard]] double noise_of(double steps, Rng& rng);
  [[nodiscard]] double stalls_until(double step, Rng& rng);

  StepNoise noise_;
  double run_factor_ = 1.0;
  double state_ = 0.0;
  double done_ = 0.0;
  double next_stall_ = 0.0;  ///< number of the step in which the next stall comes
};

}  // namespace steptune
