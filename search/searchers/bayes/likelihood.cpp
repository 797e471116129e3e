// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "common/numbers.hpp"
#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/lbfgs.hpp"
#include "search/searchers/bayes/linear_algebra.hpp"

namespace steptune::bayes {
namespace {

// Bounds far beyond values that data can support; they keep exponentials finite.
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

/// Returns the pairs' covariances times `amplitude` in the lower triangle, `diagonal` on the
/// diagonal, and zeros above.
Matrix covariance_matrix(const PairCovariances& pairs, const std::vector<double>& diagonal,
                         double amplitude) {
  Matrix matrix(diagonal.size(), diagonal.size());
  const double* value = pairs.values().data();
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      matrix(i, k) = amplitude * *value++;
    }
    matrix(i, i) = diagonal[i];
  }
  return matrix;
}

/// Likelihood of the targets under a zero-mean normal distribution.
struct MarginalLikelihood {
  double negative_log = 0.0;    ///< up to a constant
  double fit = 0.0;             ///< t' covariance^-1 t for the targets t
  Matrix inverse;               ///< covariance^-1
  std::vector<double> weights;  ///< covariance^-1 targets
};

/// Returns nullopt if the covariance cannot be factorised (Rasmussen and Williams 2006, section
/// 5.4.1).
std::optional<MarginalLikelihood> marginal_likelihood(Matrix covariance,
                                                      const std::vector<double>& targets) {
  if (!cholesky_with_jitter(covariance)) return std::nullopt;
  const std::size_t size = targets.size();
  const LinearAlgebra& algebra = LinearAlgebra::instance();
  MarginalLikelihood result;
  result.inverse = Matrix(size, size);
  algebra.inverse_of_product(block_of(covariance), block_of(result.inverse, 0, 0, size, size));
  result.weights.resize(size);
  algebra.apply(block_of(result.inverse), targets, result.weights);
  result.fit =
      std::inner_product(result.weights.begin(), result.weights.end(), targets.begin(), 0.0);
  double log_determinant = 0.0;
  for (std::size_t i = 0; i < size; ++i)
    log_determinant += 2.0 * std::log(covariance(i, i));
  result.negative_log = 0.5 * (result.fit + log_determinant);
  return result;
}

/// Returns the negative log posterior and writes its gradient (Rasmussen and Williams 2006, eq.
/// 5.9).
double value_and_gradient(const TrainingSet& training, const PairDistances& pairs,
                          PairCovariances& covariances, const Prior& prior,
                          std::span<const double> flat_hyperparameters,
                          std::span<double> gradient) {
  const auto hyperparameters = Hyperparameters::from_flat(flat_hyperparameters);
  if (!within_bounds(hyperparameters)) return k_infinity;
  const double amplitude = std::exp(hyperparameters.log_amplitude);
  const double floor = std::exp(hyperparameters.log_noise);
  const std::size_t size = training.size();

  covariances.compute(Kernel(hyperparameters));
  std::vector<double> diagonal(size);
  for (std::size_t i = 0; i < size; ++i)
    diagonal[i] = amplitude + floor + training.noise_variances[i];
  const auto likelihood =
      marginal_likelihood(covariance_matrix(covariances, diagonal, amplitude), training.targets);
  if (!likelihood) return k_infinity;
  double value = likelihood->negative_log;

  // d value / d covariance of each pair, for both of its entries in the matrix together.
  const std::vector<double>& weight = likelihood->weights;
  std::vector<double> sensitivities(pairs.pairs());
  double* sensitivity = sensitivities.data();
  double trace = 0.0;
  double noise_term = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::span<const double> row = likelihood->inverse.row(i);
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
  const PairDistances pairs(training.features, groups);
  PairCovariances covariances(pairs);
  return value_and_gradient(training, pairs, covariances, prior, flat_hyperparameters, gradient);
}

Fit fit_hyperparameters(const TrainingSet& training, const FeatureGroups& groups,
                        const Prior& prior, const Hyperparameters& start, int max_evaluations) {
  const PairDistances pairs(training.features, groups);
  PairCovariances covariances(pairs);
  const auto function = [&](std::span<const double> x, std::span<double> gradient) {
    return value_and_gradient(training, pairs, covariances, prior, x, gradient);
  };
  const LbfgsResult result =
      minimise_lbfgs(function, start.flat(), LbfgsOptions::roughly(max_evaluations));
  return {Hyperparameters::from_flat(result.x), result.value};
}

}  // namespace steptune::bayes
