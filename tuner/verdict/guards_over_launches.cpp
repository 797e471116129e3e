// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/guards_over_launches.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trial_runner/measure/quantiles.hpp"
#include "tuner/verdict/scatter.hpp"

namespace steptune {
namespace {

/// Returns the scatter of a metric among launches. Launches with the same seed repeat each other
/// and show too little scatter. So the mean's variance is at least the mean variance within one
/// launch.
Scatter among_launches(const std::string& metric, std::span<const TrialRecord> trials,
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
  if (values.size() < 2) return {};
  Scatter scatter = scatter_of(values);
  scatter.squares = std::max(scatter.squares, within * scatter.degrees_of_freedom);
  return scatter;
}

double variance_of_mean(const Scatter& scatter) {
  return scatter.variance() / (scatter.degrees_of_freedom + 1.0);
}

}  // namespace

std::optional<LaunchMeans> means_over_launches(const Guard& guard,
                                               std::span<const TrialRecord> trials,
                                               const Configuration& configuration,
                                               const Configuration& baseline, double error) {
  const Scatter own = among_launches(judged_metric(guard), trials, configuration);
  const Scatter other = among_launches(judged_metric(guard), trials, baseline);
  const double least_freedom = std::min(own.degrees_of_freedom, other.degrees_of_freedom);
  if (least_freedom < 1.0 || other.mean == 0.0) return std::nullopt;
  LaunchMeans means{.value = own.mean, .baseline = other.mean};
  means.launches = static_cast<int>(least_freedom) + 1;
  const double size = std::abs(other.mean);
  const double own_variance = variance_of_mean(own);
  const double other_variance = variance_of_mean(other);
  const double freedom = own.degrees_of_freedom + other.degrees_of_freedom;
  const double quantile = student_quantile(freedom, error);
  means.difference = (own.mean - other.mean) / size;
  means.half_width = quantile * std::sqrt(own_variance + other_variance) / size;
  const double multiple = multiple_of_baseline(*guard.max_ratio_to_baseline, other.mean);
  const double error_of_limit = std::sqrt(own_variance + std::pow(multiple, 2) * other_variance);
  means.is_violated = own.mean - multiple * other.mean > quantile * error_of_limit;
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
