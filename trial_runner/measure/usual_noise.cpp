// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/usual_noise.hpp"

#include <cmath>

#include "common/interval.hpp"
#include "trial_runner/measure/phase_cost.hpp"

namespace steptune {
namespace {

/// Minimum number of steps of a trial (`measure.min_window_steps`) unless the study changes it. A
/// trial of so many has half of the largest weight.
constexpr double k_usual_steps = 30.0;

/// Returns the variance that the events add to the relative mean over one second. It comes from the
/// scatter of their durations and gaps (a renewal process with rewards). Unknown gaps are assumed
/// to scatter as in a Poisson process.
double variance_of_events_s(const PhaseEstimate& phase, double seconds_per_sample) {
  const double of_durations = phase.count * phase.seconds_error * phase.seconds_error;
  double gap_variation = 1.0;
  if (std::isfinite(phase.period_samples) && std::isfinite(phase.period_error)) {
    gap_variation = phase.count * std::pow(phase.period_error / phase.period_samples, 2.0);
  }
  return (of_durations + gap_variation * phase.seconds * phase.seconds) /
         (phase.spacing_samples * seconds_per_sample);
}

}  // namespace

void UsualNoise::add(const Measurement& measurement) {
  const Measurement& m = measurement;
  const bool is_usable = m.status == MeasurementStatus::steady && m.window_s > 0.0 &&
                         m.window_steps > 0.0 && m.window_samples > 0.0 &&
                         m.seconds_per_sample > 0.0 && m.step_seconds_per_sample > 0.0 &&
                         std::isfinite(m.step_standard_error_s);
  if (!is_usable) return;
  const double error = m.step_standard_error_s / m.step_seconds_per_sample;
  double variance_s = error * error * m.window_s;
  for (const auto& [name, phase] : m.phases) {
    const double spacing_steps = phase.spacing_samples * m.window_steps / m.window_samples;
    const bool comes_often = spacing_steps > 0.0 && spacing_steps <= k_frequent_intervals;
    if (!comes_often || !std::isfinite(phase.seconds_error)) continue;
    variance_s += variance_of_events_s(phase, m.seconds_per_sample);
  }
  const double weight = m.window_steps / (m.window_steps + k_usual_steps);
  sum_s_ += weight * variance_s;
  weight_ += weight;
}

double with_usual_noise(double half_width_s, double mean_s, double seconds, std::size_t intervals,
                        double usual_variance_s) {
  const double usual_s = k_z_95 * mean_s * std::sqrt(usual_variance_s / seconds);
  if (!(usual_s > half_width_s)) return half_width_s;
  const double weight = k_usual_steps / (k_usual_steps + static_cast<double>(intervals));
  return std::sqrt((1.0 - weight) * half_width_s * half_width_s + weight * usual_s * usual_s);
}

}  // namespace steptune
