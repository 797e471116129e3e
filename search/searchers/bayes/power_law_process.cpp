// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/power_law_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "search/searchers/bayes/covariance.hpp"
#include "search/searchers/bayes/inverse_factor.hpp"
#include "search/searchers/bayes/lbfgs.hpp"
#include "search/searchers/bayes/matern.hpp"

namespace steptune::bayes {
namespace {

// What is believed before any trial, in natural logarithms of times and parameters: exponents
// between -1 and 1, most of them near 0; deviations of some ten per cent that take a factor of
// fifty in a parameter; a few per cent that nothing explains.
constexpr LogNormal k_slope{-3.5, 1.5};
constexpr LogNormal k_lengthscale{1.4, 1.0};
constexpr LogNormal k_amplitude{-1.0, 1.5};
constexpr LogNormal k_noise{-9.0, 3.0};
// Variance of the level itself about the mean of the trials.
constexpr double k_level_variance = 4.0;
constexpr double k_largest_log = 20.0;

using Dimension = std::pair<std::size_t, std::size_t>;

double product(const Dimension& dimension, const double* a, const double* b) {
  double sum = 0.0;
  for (std::size_t f = dimension.first; f < dimension.second; ++f)
    sum += a[f] * b[f];
  return sum;
}

double squared_distance(const Dimension& dimension, const double* a, const double* b) {
  double sum = 0.0;
  for (std::size_t f = dimension.first; f < dimension.second; ++f)
    sum += (a[f] - b[f]) * (a[f] - b[f]);
  return sum;
}

/// Products and squared distances of all pairs of rows, a row with itself included, dimension by
/// dimension: what stays the same while hyperparameters are fitted. Pair (i, k), k <= i, is at
/// place i (i + 1) / 2 + k.
struct PairTable {
  PairTable(const Matrix& features, const std::vector<Dimension>& dimensions)
      : rows(features.rows()), products(dimensions.size()), distances(dimensions.size()) {
    for (std::size_t j = 0; j < dimensions.size(); ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k <= i; ++k) {
          const double* a = features.row(i).data();
          const double* b = features.row(k).data();
          products[j].push_back(product(dimensions[j], a, b));
          distances[j].push_back(squared_distance(dimensions[j], a, b));
        }
      }
    }
  }

  std::size_t rows;
  std::vector<std::vector<double>> products;
  std::vector<std::vector<double>> distances;
};

double value_and_gradient(const TrainingSet& training, const PairTable& pairs,
                          std::span<const double> flat, std::span<double> gradient) {
  const at::InferenceMode no_autograd;
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  for (const double value : flat) {
    if (!(std::abs(value) < k_largest_log)) return k_infinity;
  }
  const std::size_t size = training.size();
  const std::size_t dimensions = pairs.products.size();
  const std::size_t count = size * (size + 1) / 2;
  const double amplitude = std::exp(flat[2 * dimensions]);
  const double noise = std::exp(flat[2 * dimensions + 1]);

  std::vector<double> covariances(count, k_level_variance);
  std::vector<double> deviations(count, 0.0);  // squared distances at first
  for (std::size_t j = 0; j < dimensions; ++j) {
    const double slope = std::exp(flat[j]);
    const double weight = std::exp(-2.0 * flat[dimensions + j]);
    for (std::size_t p = 0; p < count; ++p) {
      covariances[p] += slope * pairs.products[j][p];
      deviations[p] += weight * pairs.distances[j][p];
    }
  }
  std::vector<double> derivatives(count);
  matern52_with_slopes(deviations, derivatives);
  for (std::size_t p = 0; p < count; ++p) {
    deviations[p] *= amplitude;
    derivatives[p] *= amplitude;
    covariances[p] += deviations[p];
  }
  at::Tensor matrix =
      at::empty({static_cast<std::int64_t>(size), static_cast<std::int64_t>(size)}, at::kDouble);
  double* data = matrix.data_ptr<double>();
  for (std::size_t i = 0, p = 0; i < size; ++i) {
    for (std::size_t k = 0; k <= i; ++k, ++p) {
      data[i * size + k] = covariances[p];
      data[k * size + i] = covariances[p];
    }
    data[i * size + i] += noise + training.noise_variances[i];
  }
  const auto likelihood = marginal_likelihood(matrix, as_tensor(training.targets));
  if (!likelihood) return k_infinity;
  double value = likelihood->negative_log;

  // d value / d covariance of each pair, both of its places in the matrix together.
  const double* inverse_data = likelihood->inverse.data_ptr<double>();
  const double* weight = likelihood->weights.data_ptr<double>();
  std::vector<double> sensitivities(count);
  double trace = 0.0;
  for (std::size_t i = 0, p = 0; i < size; ++i) {
    for (std::size_t k = 0; k <= i; ++k, ++p)
      sensitivities[p] = inverse_data[i * size + k] - weight[i] * weight[k];
    sensitivities[p - 1] *= 0.5;
    trace += sensitivities[p - 1];
  }
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t j = 0; j < dimensions; ++j) {
    double by_slope = 0.0;
    double by_distance = 0.0;
    for (std::size_t p = 0; p < count; ++p) {
      by_slope += sensitivities[p] * pairs.products[j][p];
      by_distance += sensitivities[p] * derivatives[p] * pairs.distances[j][p];
    }
    gradient[j] = std::exp(flat[j]) * by_slope;
    gradient[dimensions + j] = -2.0 * std::exp(-2.0 * flat[dimensions + j]) * by_distance;
  }
  for (std::size_t p = 0; p < count; ++p)
    gradient[2 * dimensions] += sensitivities[p] * deviations[p];
  gradient[2 * dimensions + 1] = noise * trace;

  for (std::size_t j = 0; j < dimensions; ++j) {
    value += k_slope.penalty(flat[j], gradient[j]);
    value += k_lengthscale.penalty(flat[dimensions + j], gradient[dimensions + j]);
  }
  value += k_amplitude.penalty(flat[2 * dimensions], gradient[2 * dimensions]);
  value += k_noise.penalty(flat[2 * dimensions + 1], gradient[2 * dimensions + 1]);
  return std::isfinite(value) ? value : k_infinity;
}

}  // namespace

struct PowerLawProcess::State {
  std::vector<double> slope_of_feature;
  std::vector<double> weight_of_feature;  ///< inverse square of the lengthscale
  double amplitude = 1.0;
  double floor = 0.0;
  Matrix features;
  std::optional<InverseFactor> factor;  ///< of the covariance of the training rows
  std::vector<double> targets;
  std::vector<double> weights;  ///< covariance^-1 targets

  /// Covariances of rows [first, last) of `rows` with all of the training rows.
  [[nodiscard]] Matrix between(const Matrix& rows, std::size_t first, std::size_t last) const {
    const std::size_t count = features.rows();
    const std::size_t width = features.cols();
    Matrix linear(last - first, count);
    Matrix joint(last - first, count);
    for (std::size_t i = first; i < last; ++i) {
      const auto row = rows.row(i);
      for (std::size_t k = 0; k < count; ++k) {
        const auto other = features.row(k);
        double sum = k_level_variance;
        double distance = 0.0;
        for (std::size_t f = 0; f < width; ++f) {
          const double difference = row[f] - other[f];
          sum += slope_of_feature[f] * row[f] * other[f];
          distance += weight_of_feature[f] * difference * difference;
        }
        linear(i - first, k) = sum;
        joint(i - first, k) = distance;
      }
    }
    const std::span<double> covariances(joint.data(), (last - first) * count);
    matern52(covariances, covariances);
    for (std::size_t p = 0; p < (last - first) * count; ++p)
      linear.data()[p] += amplitude * joint.data()[p];
    return linear;
  }

  [[nodiscard]] double prior_variance(std::span<const double> row) const {
    double variance = k_level_variance + amplitude;
    for (std::size_t f = 0; f < row.size(); ++f)
      variance += slope_of_feature[f] * row[f] * row[f];
    return variance;
  }
};

PowerLawProcess::PowerLawProcess(const TrainingSet& training, const FeatureGroups& groups,
                                 const PowerLawHyperparameters& hyperparameters)
    : state_(std::make_unique<State>()) {
  const at::InferenceMode no_autograd;
  State& state = *state_;
  for (const std::size_t group : groups.group_of_feature) {
    state.slope_of_feature.push_back(std::exp(hyperparameters.log_slopes[group]));
    state.weight_of_feature.push_back(std::exp(-2.0 * hyperparameters.log_lengthscales[group]));
  }
  state.amplitude = std::exp(hyperparameters.log_amplitude);
  state.floor = std::exp(hyperparameters.log_noise);
  state.features = training.features;
  state.targets = training.targets;
  const Matrix rows = state.between(training.features, 0, training.size());
  at::Tensor covariance = as_tensor(rows).clone();
  double* data = covariance.data_ptr<double>();
  for (std::size_t i = 0; i < training.size(); ++i)
    data[i * (training.size() + 1)] += state.floor + training.noise_variances[i];
  state.factor.emplace(covariance);
  state.weights = state.factor->solve(training.targets);
}

PowerLawProcess::PowerLawProcess(PowerLawProcess&&) noexcept = default;
PowerLawProcess& PowerLawProcess::operator=(PowerLawProcess&&) noexcept = default;
PowerLawProcess::~PowerLawProcess() = default;

PowerLawHyperparameters PowerLawProcess::fit(const TrainingSet& training,
                                             const FeatureGroups& groups, int max_evaluations) {
  const auto dimensions = ranges_of(groups);
  const std::size_t count = dimensions.size();
  const PairTable pairs(training.features, dimensions);
  std::vector<double> start(2 * count + 2, k_slope.location);
  std::fill_n(start.begin() + static_cast<std::ptrdiff_t>(count), count, k_lengthscale.location);
  start[2 * count] = k_amplitude.location;
  start[2 * count + 1] = k_noise.location;
  const auto function = [&](std::span<const double> x, std::span<double> gradient) {
    return value_and_gradient(training, pairs, x, gradient);
  };
  const std::vector<double> best =
      minimise_lbfgs(function, start, LbfgsOptions::roughly(max_evaluations)).x;
  const auto middle = best.begin() + static_cast<std::ptrdiff_t>(count);
  const auto end = best.end() - 2;
  return {{best.begin(), middle}, {middle, end}, best[2 * count], best[2 * count + 1]};
}

Posterior PowerLawProcess::predict(const Matrix& features, std::size_t first,
                                   std::size_t last) const {
  const at::InferenceMode no_autograd;
  const State& state = *state_;
  Posterior posterior{std::vector<double>(last - first), std::vector<double>(last - first)};
  if (first == last) return posterior;
  const Matrix covariance = state.between(features, first, last);
  const at::Tensor means = at::mv(as_tensor(covariance), as_tensor(state.weights));
  std::copy_n(means.data_ptr<double>(), posterior.means.size(), posterior.means.begin());
  const std::vector<double> known = state.factor->explained(covariance, state.factor->size());
  for (std::size_t i = 0; i < posterior.variances.size(); ++i) {
    const double variance = state.prior_variance(features.row(first + i)) - known[i];
    posterior.variances[i] = std::max(variance, 1e-10) + state.floor;
  }
  return posterior;
}

Posterior PowerLawProcess::leave_one_out() const {
  const State& state = *state_;
  const std::vector<double> precisions = state.factor->precisions();
  Posterior posterior;
  for (std::size_t i = 0; i < state.targets.size(); ++i) {
    posterior.means.push_back(state.targets[i] - state.weights[i] / precisions[i]);
    posterior.variances.push_back(1.0 / precisions[i]);
  }
  return posterior;
}

double negative_log_posterior(const TrainingSet& training, const FeatureGroups& groups,
                              std::span<const double> flat_hyperparameters,
                              std::span<double> gradient) {
  return value_and_gradient(training, PairTable(training.features, ranges_of(groups)),
                            flat_hyperparameters, gradient);
}

}  // namespace steptune::bayes
