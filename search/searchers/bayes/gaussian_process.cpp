// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace steptune::bayes {
namespace {

/// Returns the covariances of all rows with each other in the lower triangle, with `diagonal` added
/// to the diagonal. The upper triangle is undefined. `columns` are the columns of `features`.
Matrix lower_covariance(const Kernel& kernel, const Matrix& features, const FeatureColumns& columns,
                        const FeatureGroups& groups, std::span<const double> diagonal) {
  const std::size_t size = features.rows();
  Matrix matrix(size, size);
  Matrix rows;
  for (std::size_t first = 0; first < size; first += InverseFactor::k_block) {
    const std::size_t last = std::min(first + InverseFactor::k_block, size);
    kernel.between(features, first, last, columns, last, groups, rows);
    for (std::size_t i = first; i < last; ++i)
      std::copy_n(rows.row(i - first).data(), i, matrix.row(i).data());
  }
  for (std::size_t i = 0; i < size; ++i)
    matrix(i, i) = diagonal[i];
  return matrix;
}

InverseFactor factor_of(const TrainingSet& training, const FeatureGroups& groups,
                        const Kernel& kernel, const FeatureColumns& columns, double floor) {
  std::vector<double> diagonal = training.noise_variances;
  for (double& variance : diagonal)
    variance += kernel.amplitude + floor;
  return InverseFactor(lower_covariance(kernel, training.features, columns, groups, diagonal));
}

}  // namespace

GaussianProcess::GaussianProcess(const TrainingSet& training, const FeatureGroups& groups,
                                 const Hyperparameters& hyperparameters)
    : groups_(groups),
      kernel_(hyperparameters),
      floor_(std::exp(hyperparameters.log_noise)),
      features_(training.features),
      targets_(training.targets),
      noise_variances_(training.noise_variances),
      factor_(factor_of(training, groups, kernel_, features_, floor_)),
      weights_(factor_.solve(targets_)) {}

void GaussianProcess::append(const TrainingSet& further) {
  Matrix row;
  for (std::size_t i = 0; i < further.size(); ++i) {
    kernel_.between(further.features, i, i + 1, features_, features_.rows(), groups_, row);
    factor_.append(row.row(0), kernel_.amplitude + floor_ + further.noise_variances[i]);
    features_.append(further.features.row(i));
    targets_.push_back(further.targets[i]);
    noise_variances_.push_back(further.noise_variances[i]);
  }
  weights_ = factor_.solve(targets_);
}

void GaussianProcess::set_targets(std::vector<double> targets) {
  targets_ = std::move(targets);
  weights_ = factor_.solve(targets_);
}

Posterior GaussianProcess::predict(const Matrix& features, std::size_t first,
                                   std::size_t last) const {
  return predict(features, first, last, size());
}

Posterior GaussianProcess::bound(const Matrix& features, std::size_t first,
                                 std::size_t last) const {
  return predict(features, first, last, size() < k_many_examples ? size() : size() / 4);
}

Posterior GaussianProcess::predict(const Matrix& features, std::size_t first, std::size_t last,
                                   std::size_t known) const {
  Posterior posterior{std::vector<double>(last - first), std::vector<double>(last - first)};
  if (first == last) return posterior;
  // Rasmussen and Williams 2006, eq. 2.25 and 2.26, with the noise floor in the variance.
  thread_local Matrix covariance;
  kernel_.between(features, first, last, features_, features_.rows(), groups_, covariance);
  LinearAlgebra::instance().apply(block_of(std::as_const(covariance)), weights_, posterior.means);
  const std::vector<double> explained = factor_.explained(covariance, known);
  const double smallest = 1e-10 * kernel_.amplitude;
  std::transform(
      explained.begin(), explained.end(), posterior.variances.begin(),
      [&](double share) { return std::max(kernel_.amplitude - share, smallest) + floor_; });
  return posterior;
}

GaussianProcess::LeaveOneOut GaussianProcess::leave_one_out() const {
  // Rasmussen and Williams 2006, eq. 5.10 to 5.12.
  const std::vector<double> precisions = factor_.precisions();
  LeaveOneOut result;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double variance = 1.0 / precisions[i];
    const double deviation = weights_[i] * variance;
    result.posterior.means.push_back(targets_[i] - deviation);
    result.posterior.variances.push_back(variance);
    result.log_densities.push_back(-0.5 * std::log(2.0 * std::numbers::pi * variance) -
                                   0.5 * deviation * deviation / variance);
  }
  return result;
}

std::vector<double> GaussianProcess::noise_free_targets() const {
  // E[f | y] = y - noise (K + noise)^-1 y, by eq. 2.25 at the trials themselves.
  std::vector<double> result = targets_;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] -= noise_variances_[i] * weights_[i];
  return result;
}

}  // namespace steptune::bayes
