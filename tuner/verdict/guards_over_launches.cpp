// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/guards_over_launches.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trial_runner/measure/quantiles.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {
namespace {

/// Mean over launches with its variance.
struct LaunchMean {
  double value = 0.0;
  double variance = 0.0;
  int launches = 0;
};

LaunchMean mean_over_launches(const std::string& metric, std::span<const TrialRecord> trials,
                              const Configuration& configuration) {
  std::vector<double> values;
  double within = 0.0;
  for (const TrialRecord& trial : trials) {
    if (!is_final(trial.status) || !trial.measurement || trial.configuration != configuration) {
      continue;
    }
    const auto value = trial.measurement->metrics.find(metric);
    if (value == trial.measurement->metrics.end() || !std::isfinite(value->second)) continue;
    values.push_back(value->second);
    const auto error = trial.measurement->metric_errors.find(metric);
    if (error != trial.measurement->metric_errors.end()) within += std::pow(error->second, 2);
  }
  LaunchMean result;
  result.launches = static_cast<int>(values.size());
  if (result.launches < 2) return result;
  const Scatter scatter = scatter_of(values);
  result.value = scatter.mean;
  result.variance = std::max(scatter.variance(), within) / static_cast<double>(values.size());
  return result;
}

}  // namespace

std::optional<LaunchMeans> means_over_launches(const Guard& guard,
                                               std::span<const TrialRecord> trials,
                                               const Configuration& configuration,
                                               const Configuration& baseline, double error) {
  const LaunchMean own = mean_over_launches(judged_metric(guard), trials, configuration);
  const LaunchMean other = mean_over_launches(judged_metric(guard), trials, baseline);
  if (own.launches < 2 || other.launches < 2 || other.value == 0.0) return std::nullopt;
  LaunchMeans means{.value = own.value, .baseline = other.value};
  means.launches = std::min(own.launches, other.launches);
  const double size = std::abs(other.value);
  const double freedom = own.launches + other.launches - 2.0;
  const double quantile = student_quantile(freedom, error);
  means.difference = (own.value - other.value) / size;
  means.half_width = quantile * std::sqrt(own.variance + other.variance) / size;
  const double multiple = multiple_of_baseline(*guard.max_ratio_to_baseline, other.value);
  const double error_of_limit = std::sqrt(own.variance + std::pow(multiple, 2) * other.variance);
  means.is_violated = own.value - multiple * other.value > quantile * error_of_limit;
  return means;
}

bool violates_over_launches(const StudySpec& study, std::span<const TrialRecord> trials,
                            const Configuration& configuration, double error) {
  return std::ranges::any_of(study.guards, [&](const Guard& guard) {
    if (!guard.over_launches) return false;
    const auto means = means_over_launches(guard, trials, configuration, study.baseline, error);
    return means && means->is_violated;
  });
}

}  // namespace steptune
