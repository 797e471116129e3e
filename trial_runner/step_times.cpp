// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/step_times.hpp"

#include <algorithm>
#include <cmath>

namespace steptune {
namespace {

/// Up to this many steps, the noise of each step is drawn. For more, their sum is drawn at once.
constexpr double k_exact_steps = 16.0;
/// Lower bound of a random time, as a share of the time without noise. Noise may not make a time
/// negative.
constexpr double k_floor = 0.05;

/// Returns the steps until the next event of a Poisson process.
double steps_to_event(double mean_steps, Rng& rng) {
  return -mean_steps * std::log1p(-rng.uniform());
}

}  // namespace

StepTimes::StepTimes(const StepNoise& noise, Rng& rng) : noise_(noise) {
  noise_.correlation = std::clamp(noise_.correlation, 0.0, 0.99);
  run_factor_ = std::max(k_floor, 1.0 + noise_.run * rng.normal());
  state_ = rng.normal();
  if (noise_.stall_period_steps > 0.0) {
    next_stall_ = steps_to_event(noise_.stall_period_steps, rng);
  }
}

double StepTimes::stalls_until(double step, Rng& rng) {
  if (!(noise_.stall_period_steps > 0.0)) return 0.0;
  double lost = 0.0;
  while (next_stall_ < step) {
    lost += noise_.stall_steps;
    next_stall_ += steps_to_event(noise_.stall_period_steps, rng);
  }
  return lost;
}

double StepTimes::noise_of(double steps, Rng& rng) {
  const double phi = noise_.correlation;
  if (steps <= k_exact_steps) {
    double sum = 0.0;
    for (double i = 0.0; i < steps; ++i) {
      sum += state_;
      state_ = phi * state_ + std::sqrt(1.0 - phi * phi) * rng.normal();
    }
    return noise_.step * sum;
  }
  // Variance of the sum of n autoregressive numbers of unit variance.
  const double n = steps;
  const double variance = n * (1.0 + phi) / (1.0 - phi) -
                          2.0 * phi * (1.0 - std::pow(phi, n)) / ((1.0 - phi) * (1.0 - phi));
  state_ = rng.normal();
  return noise_.step * std::sqrt(variance) * rng.normal();
}

double StepTimes::take(double steps, Rng& rng) {
  const double tau = noise_.warmup_steps;
  double slowness = 0.0;
  if (tau > 0.0 && noise_.warmup_slowdown != 0.0) {
    // Step i takes `warmup_slowdown * exp(-i / tau)` longer than a steady step. Sum of this
    // geometric series over the steps:
    const double ratio = std::exp(-1.0 / tau);
    slowness = noise_.warmup_slowdown *
               (std::exp(-done_ / tau) - std::exp(-(done_ + steps) / tau)) / (1.0 - ratio);
  }
  done_ += steps;
  const double usual = steps + slowness;
  const double drawn = std::max(k_floor * usual, usual + noise_of(steps, rng));
  return run_factor_ * (drawn + stalls_until(done_, rng));
}

}  // namespace steptune
