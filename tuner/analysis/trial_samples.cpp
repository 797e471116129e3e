// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/trial_samples.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "common/interval.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_samples = 2000;

/// Returns an evenly spread selection of samples. The selection always includes the baseline, and
/// the samples with the least and the largest value. One of these two is the best value.
std::vector<EffectSample> thinned(std::vector<EffectSample> samples, std::size_t baseline) {
  if (samples.size() <= k_most_samples) return samples;
  std::set<std::size_t> kept{baseline};
  const auto [low, high] = std::ranges::minmax_element(samples, {}, &EffectSample::value);
  kept.insert(static_cast<std::size_t>(low - samples.begin()));
  kept.insert(static_cast<std::size_t>(high - samples.begin()));
  const std::size_t spread = k_most_samples - kept.size();
  for (std::size_t i = 0; i < spread; ++i)
    kept.insert(i * samples.size() / spread);
  std::vector<EffectSample> some;
  for (const std::size_t place : kept)
    some.push_back(std::move(samples[place]));
  return some;
}

std::vector<EffectSample> samples_of(
    const SearchSpace& space, const std::vector<TrialRecord>& trials, std::span<const Point> points,
    const std::function<std::optional<MeasuredValue>(const TrialRecord&)>& reading_of) {
  std::vector<EffectSample> samples;
  std::size_t baseline = 0;  // index of the first baseline's sample, otherwise of the first trial's
  bool has_baseline = false;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialRecord& trial = trials[i];
    const auto reading = reading_of(trial);
    if (!reading || !std::isfinite(reading->value)) continue;
    // Skip runs that were too short for an interval. Keep metrics without an error, which have NaN
    // here.
    if (std::isinf(reading->error)) continue;
    Point point = points.empty() ? space.encode(trial.configuration) : points[i];
    // A continued study may no longer have this value in its space.
    if (std::ranges::any_of(point, [](double at) { return std::isnan(at); })) continue;
    const double error = std::isfinite(reading->error) ? reading->error : 0.0;
    if (trial.purpose == TrialPurpose::baseline && !std::exchange(has_baseline, true)) {
      baseline = samples.size();
    }
    samples.push_back({std::move(point), reading->value, error});
  }
  return thinned(std::move(samples), baseline);
}

TrialSamples on_log_scale(std::vector<EffectSample> samples) {
  TrialSamples result{std::move(samples), true};
  result.logarithmic = std::ranges::all_of(
      result.samples, [](const EffectSample& sample) { return sample.value > 0.0; });
  if (!result.logarithmic) return result;
  for (EffectSample& sample : result.samples) {
    sample.standard_error /= sample.value;
    sample.value = std::log(sample.value);
  }
  return result;
}

}  // namespace

std::vector<Point> encoded(const SearchSpace& space, const std::vector<TrialRecord>& trials) {
  std::vector<Point> points;
  points.reserve(trials.size());
  for (const TrialRecord& trial : trials)
    points.push_back(space.encode(trial.configuration));
  return points;
}

TrialSamples objective_samples(const SearchSpace& space, const std::vector<TrialRecord>& trials,
                               std::size_t objective, std::span<const Point> points) {
  return on_log_scale(samples_of(space, trials, points, [&](const TrialRecord& trial) {
    std::optional<MeasuredValue> reading;
    if (was_measured(trial.status) && objective < trial.objectives.size()) {
      reading = {trial.objectives[objective],
                 objective < trial.standard_errors.size() ? trial.standard_errors[objective] : 0.0};
    }
    return reading;
  }));
}

TrialSamples step_time_samples(const SearchSpace& space, const std::vector<TrialRecord>& trials,
                               std::span<const Point> points) {
  return on_log_scale(samples_of(space, trials, points, [](const TrialRecord& trial) {
    std::optional<MeasuredValue> reading;
    if (was_measured(trial.status) && trial.measurement &&
        trial.measurement->seconds_per_sample > 0.0) {
      const double seconds = trial.measurement->seconds_per_sample;
      const double error = trial.measurement->half_width_s / k_z_95;
      const double drift = std::exp(trial.level.log_ratio);
      reading = {seconds / drift, std::hypot(error, trial.level.standard_error * seconds) / drift};
    }
    return reading;
  }));
}

TrialSamples failure_samples(const SearchSpace& space, const std::vector<TrialRecord>& trials,
                             std::span<const Point> points) {
  return {samples_of(space, trials, points,
                     [](const TrialRecord& trial) {
                       std::optional<MeasuredValue> reading;
                       if (is_ranked(trial.status)) reading = {0.0, 0.0};
                       if (trial.status == TrialStatus::failed ||
                           trial.status == TrialStatus::out_of_memory ||
                           trial.status == TrialStatus::infeasible) {
                         reading = {1.0, 0.0};
                       }
                       return reading;
                     }),
          false};
}

}  // namespace steptune
