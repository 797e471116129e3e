// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/lbfgs.hpp"
#include "search/searchers/bayes/tensor.hpp"

namespace steptune::bayes {
namespace {

// Far outside of what any data could teach; keeps exponentials finite.
constexpr double k_largest_log = 20.0;
constexpr double k_smallest_log_noise = -18.0;

bool within_bounds(const Hyperparameters& hyperparameters) {
  for (const double value : hyperparameters.log_lengthscales) {
    if (!(std::abs(value) < k_largest_log)) return false;
  }
  return std::abs(hyperparameters.log_amplitude) < k_largest_log &&
         std::abs(hyperparameters.additive_odds) < k_largest_log &&
         hyperparameters.log_noise < k_largest_log &&
         hyperparameters.log_noise > k_smallest_log_noise;
}

/// The covariances of all pairs times `amplitude`, and what belongs on the diagonal.
at::Tensor covariance_matrix(const PairCovariances& pairs, const std::vector<double>& diagonal,
                             double amplitude) {
  const auto size = static_cast<std::int64_t>(diagonal.size());
  at::Tensor matrix = at::empty({size, size}, at::kDouble);
  double* data = matrix.data_ptr<double>();
  const double* value = pairs.values().data();
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double covariance = amplitude * *value++;
      data[i * diagonal.size() + k] = covariance;
      data[k * diagonal.size() + i] = covariance;
    }
    data[i * diagonal.size() + i] = diagonal[i];
  }
  return matrix;
}

/// What a zero-mean normal of some covariance makes of its targets.
struct MarginalLikelihood {
  double negative_log = 0.0;  ///< but for a constant
  double fit = 0.0;           ///< targets' covariance^-1 targets
  at::Tensor inverse;         ///< covariance^-1, contiguous
  at::Tensor weights;         ///< covariance^-1 targets
};

/// Nothing where the covariance cannot be factorised (Rasmussen and Williams 2006, section 5.4.1).
std::optional<MarginalLikelihood> marginal_likelihood(const at::Tensor& covariance,
                                                      const at::Tensor& targets) {
  const auto factor = cholesky_with_jitter(covariance);
  if (!factor) return std::nullopt;
  MarginalLikelihood result;
  result.inverse = at::cholesky_inverse(*factor).contiguous();
  result.weights = at::mv(result.inverse, targets);
  result.fit = at::dot(result.weights, targets).item<double>();
  const double log_determinant = 2.0 * factor->diagonal().log().sum().item<double>();
  result.negative_log = 0.5 * (result.fit + log_determinant);
  return result;
}

/// The gradient: Rasmussen and Williams 2006, eq. 5.9.
double value_and_gradient(const TrainingSet& training, const PairDistances& pairs,
                          const Prior& prior, std::span<const double> flat_hyperparameters,
                          std::span<double> gradient) {
  const at::InferenceMode no_autograd;
  const auto hyperparameters = Hyperparameters::from_flat(
      std::vector<double>(flat_hyperparameters.begin(), flat_hyperparameters.end()));
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  if (!within_bounds(hyperparameters)) return k_infinity;
  const double amplitude = std::exp(hyperparameters.log_amplitude);
  const double floor = std::exp(hyperparameters.log_noise);
  const std::size_t size = training.size();

  const PairCovariances covariances(pairs, Kernel(hyperparameters));
  std::vector<double> diagonal(size);
  for (std::size_t i = 0; i < size; ++i)
    diagonal[i] = amplitude + floor + training.noise_variances[i];
  const auto likelihood = marginal_likelihood(covariance_matrix(covariances, diagonal, amplitude),
                                              as_tensor(training.targets));
  if (!likelihood) return k_infinity;
  double value = likelihood->negative_log;

  // d value / d covariance of each pair, both of its places in the matrix together.
  const double* inverse_data = likelihood->inverse.data_ptr<double>();
  const double* weight = likelihood->weights.data_ptr<double>();
  std::vector<double> sensitivities(pairs.pairs());
  double* sensitivity = sensitivities.data();
  double trace = 0.0;
  double noise_term = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const double* row = inverse_data + i * size;
    for (std::size_t k = 0; k < i; ++k)
      *sensitivity++ = row[k] - weight[i] * weight[k];
    const double own = row[i] - weight[i] * weight[i];
    trace += own;
    noise_term += own * (floor + training.noise_variances[i]);
  }
  const std::vector<double> by_kernel = covariances.gradient(sensitivities);
  const std::size_t dimensions = pairs.dimensions();
  for (std::size_t j = 0; j < dimensions; ++j)
    gradient[j] = amplitude * by_kernel[j];
  gradient[dimensions] = 0.5 * (static_cast<double>(size) - likelihood->fit - noise_term);
  gradient[dimensions + 1] = 0.5 * floor * trace;
  gradient[dimensions + 2] = amplitude * by_kernel.back();

  for (std::size_t j = 0; j < dimensions; ++j)
    value += prior.lengthscale.penalty(flat_hyperparameters[j], gradient[j]);
  value += prior.amplitude.penalty(hyperparameters.log_amplitude, gradient[dimensions]);
  value += prior.noise.penalty(hyperparameters.log_noise, gradient[dimensions + 1]);
  value += prior.additive_odds.penalty(hyperparameters.additive_odds, gradient[dimensions + 2]);
  return std::isfinite(value) ? value : k_infinity;
}

}  // namespace

double negative_log_posterior(const TrainingSet& training, const FeatureGroups& groups,
                              const Prior& prior, std::span<const double> flat_hyperparameters,
                              std::span<double> gradient) {
  return value_and_gradient(training, PairDistances(training.features, groups), prior,
                            flat_hyperparameters, gradient);
}

Fit fit_hyperparameters(const TrainingSet& training, const FeatureGroups& groups,
                        const Prior& prior, const Hyperparameters& start, int max_evaluations) {
  const PairDistances pairs(training.features, groups);
  const auto function = [&](std::span<const double> x, std::span<double> gradient) {
    return value_and_gradient(training, pairs, prior, x, gradient);
  };
  const LbfgsResult result =
      minimise_lbfgs(function, start.flat(), LbfgsOptions::roughly(max_evaluations));
  return {Hyperparameters::from_flat(result.x), result.value};
}

}  // namespace steptune::bayes
