// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "search/searchers/bayes/covariance.hpp"
#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/lbfgs.hpp"

namespace steptune::bayes {
namespace {

// Far outside of what any data could teach; keeps exponentials finite.
constexpr double k_largest_log = 20.0;
constexpr double k_smallest_log_noise = -18.0;

double add_prior(const LogNormal& prior, double value, double& gradient) {
  const double z = (value - prior.location) / prior.spread;
  gradient += z / prior.spread;
  return 0.5 * z * z;
}

bool within_bounds(const Hyperparameters& hyperparameters) {
  for (const double value : hyperparameters.log_lengthscales) {
    if (!(std::abs(value) < k_largest_log)) return false;
  }
  return std::abs(hyperparameters.log_amplitude) < k_largest_log &&
         hyperparameters.log_noise < k_largest_log &&
         hyperparameters.log_noise > k_smallest_log_noise;
}

/// Sum over pairs of `weights` times the squared distance in each feature, by feature.
at::Tensor weighted_distances(const at::Tensor& weights, const at::Tensor& features) {
  const at::Tensor row_sums = weights.sum(1, true);
  const at::Tensor squares = features.mul(features).mul(row_sums).sum(0);
  const at::Tensor products = features.mul(at::mm(weights, features)).sum(0);
  return squares.sub_(products).mul_(2.0);
}

}  // namespace

double negative_log_posterior(const TrainingSet& training, const FeatureGroups& groups,
                              const Prior& prior, std::span<const double> flat_hyperparameters,
                              std::span<double> gradient) {
  const at::InferenceMode no_autograd;
  const auto hyperparameters = Hyperparameters::from_flat(
      std::vector<double>(flat_hyperparameters.begin(), flat_hyperparameters.end()));
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  if (!within_bounds(hyperparameters)) return k_infinity;
  const double amplitude = std::exp(hyperparameters.log_amplitude);
  const double floor = std::exp(hyperparameters.log_noise);

  const at::Tensor features =
      as_tensor(training.features).mul(feature_scales(groups, hyperparameters));
  const at::Tensor targets = as_tensor(training.targets);
  at::Tensor derivative;
  at::Tensor covariance =
      matern52(squared_distances(features, features), &derivative).mul_(amplitude);
  const at::Tensor noise = as_tensor(training.noise_variances).add(floor);
  covariance.diagonal().add_(noise);
  const auto factor = cholesky_with_jitter(covariance);
  if (!factor) return k_infinity;

  const at::Tensor inverse = at::cholesky_inverse(*factor);
  const at::Tensor weights = at::mv(inverse, targets);
  const double fit = at::dot(weights, targets).item<double>();
  const double log_determinant = 2.0 * factor->diagonal().log().sum().item<double>();
  double value = 0.5 * (fit + log_determinant);

  // d value / d covariance, without the factor one half.
  const at::Tensor sensitivity = inverse.sub(at::outer(weights, weights));
  const at::Tensor by_feature =
      weighted_distances(sensitivity.mul(derivative).mul_(amplitude), features).contiguous();
  const double* by_feature_data = by_feature.data_ptr<double>();
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t f = 0; f < groups.group_of_feature.size(); ++f) {
    gradient[groups.group_of_feature[f]] -= by_feature_data[f];
  }
  const at::Tensor diagonal = sensitivity.diagonal();
  const double count = static_cast<double>(training.size());
  const double noise_term = at::dot(diagonal.contiguous(), noise).item<double>();
  gradient[groups.count] = 0.5 * (count - fit - noise_term);
  gradient[groups.count + 1] = 0.5 * floor * diagonal.sum().item<double>();

  for (std::size_t group = 0; group < groups.count; ++group) {
    value += add_prior(prior.lengthscale, flat_hyperparameters[group], gradient[group]);
  }
  value += add_prior(prior.amplitude, hyperparameters.log_amplitude, gradient[groups.count]);
  value += add_prior(prior.noise, hyperparameters.log_noise, gradient[groups.count + 1]);
  return std::isfinite(value) ? value : k_infinity;
}

Hyperparameters fit_hyperparameters(const TrainingSet& training, const FeatureGroups& groups,
                                    const Prior& prior, const Hyperparameters& start,
                                    int max_evaluations) {
  const auto function = [&](std::span<const double> x, std::span<double> gradient) {
    return negative_log_posterior(training, groups, prior, x, gradient);
  };
  LbfgsOptions options;
  options.max_evaluations = max_evaluations;
  options.gradient_tolerance = 0.02;
  options.value_tolerance = 1e-3;
  return Hyperparameters::from_flat(minimise_lbfgs(function, start.flat(), options).x);
}

}  // namespace steptune::bayes
