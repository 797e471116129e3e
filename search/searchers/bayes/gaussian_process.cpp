// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "search/searchers/bayes/inverse_factor.hpp"

namespace steptune::bayes {

struct GaussianProcess::State {
  FeatureGroups groups;
  Kernel kernel;
  double floor = 0.0;
  FeatureColumns features;
  InverseFactor factor;
  std::vector<double> targets;
  std::vector<double> noise_variances;  // known noise variance of each target
  std::vector<double> weights;          // covariance^-1 targets
};

namespace {

Kernel kernel_of(const Hyperparameters& hyperparameters) {
  Kernel kernel(hyperparameters);
  kernel.amplitude = std::exp(hyperparameters.log_amplitude);
  return kernel;
}

/// Returns the covariances of all rows with each other in the lower triangle, with `diagonal` added
/// to the diagonal. The upper triangle is undefined. `columns` are the columns of `features`.
Matrix lower_covariance(const Kernel& kernel, const Matrix& features, const FeatureColumns& columns,
                        const FeatureGroups& groups, std::span<const double> diagonal) {
  constexpr std::size_t k_rows_at_once = 64;
  const std::size_t size = features.rows();
  Matrix matrix(size, size);
  Matrix rows;
  for (std::size_t first = 0; first < size; first += k_rows_at_once) {
    const std::size_t last = std::min(first + k_rows_at_once, size);
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
                                 const Hyperparameters& hyperparameters) {
  const Kernel kernel = kernel_of(hyperparameters);
  const double floor = std::exp(hyperparameters.log_noise);
  FeatureColumns columns(training.features);
  InverseFactor factor = factor_of(training, groups, kernel, columns, floor);
  std::vector<double> weights = factor.solve(training.targets);
  state_ = std::make_unique<State>(State{groups, kernel, floor, std::move(columns),
                                         std::move(factor), training.targets,
                                         training.noise_variances, std::move(weights)});
}

GaussianProcess::GaussianProcess(const GaussianProcess& other)
    : state_(std::make_unique<State>(*other.state_)) {}
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::append(const TrainingSet& further) {
  State& state = *state_;
  Matrix row;
  for (std::size_t i = 0; i < further.size(); ++i) {
    state.kernel.between(further.features, i, i + 1, state.features, state.features.rows(),
                         state.groups, row);
    state.factor.append(row.row(0),
                        state.kernel.amplitude + state.floor + further.noise_variances[i]);
    state.features.append(further.features.row(i));
    state.targets.push_back(further.targets[i]);
    state.noise_variances.push_back(further.noise_variances[i]);
  }
  state.weights = state.factor.solve(state.targets);
}

void GaussianProcess::set_targets(std::vector<double> targets) {
  state_->targets = std::move(targets);
  state_->weights = state_->factor.solve(state_->targets);
}

std::size_t GaussianProcess::size() const {
  return state_->targets.size();
}

Posterior GaussianProcess::predict(const Matrix& features, std::size_t first,
                                   std::size_t last) const {
  return predict(features, first, last, size());
}

Posterior GaussianProcess::bound(const Matrix& features, std::size_t first,
                                 std::size_t last) const {
  return predict(features, first, last, size() < k_worth_bounding ? size() : size() / 4);
}

Posterior GaussianProcess::predict(const Matrix& features, std::size_t first, std::size_t last,
                                   std::size_t known) const {
  const State& state = *state_;
  Posterior posterior{std::vector<double>(last - first), std::vector<double>(last - first)};
  if (first == last) return posterior;
  // Rasmussen and Williams 2006, eq. 2.25 and 2.26, with the noise floor in the variance.
  thread_local Matrix covariance;
  state.kernel.between(features, first, last, state.features, state.features.rows(), state.groups,
                       covariance);
  LinearAlgebra::instance().apply(block_of(std::as_const(covariance)), state.weights,
                                  posterior.means);
  const std::vector<double> explained = state.factor.explained(covariance, known);
  const double smallest = 1e-10 * state.kernel.amplitude;
  std::transform(explained.begin(), explained.end(), posterior.variances.begin(),
                 [&](double share) {
                   return std::max(state.kernel.amplitude - share, smallest) + state.floor;
                 });
  return posterior;
}

GaussianProcess::LeaveOneOut GaussianProcess::leave_one_out() const {
  const State& state = *state_;
  // Rasmussen and Williams 2006, eq. 5.10 to 5.12.
  const std::vector<double> precisions = state.factor.precisions();
  LeaveOneOut result;
  for (std::size_t i = 0; i < state.targets.size(); ++i) {
    const double variance = 1.0 / precisions[i];
    const double deviation = state.weights[i] * variance;
    result.posterior.means.push_back(state.targets[i] - deviation);
    result.posterior.variances.push_back(variance);
    result.log_densities.push_back(-0.5 * std::log(2.0 * std::numbers::pi * variance) -
                                   0.5 * deviation * deviation / variance);
  }
  return result;
}

std::vector<double> GaussianProcess::noise_free_targets() const {
  // E[f | y] = y - noise (K + noise)^-1 y, by eq. 2.25 at the trials themselves.
  std::vector<double> result = state_->targets;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] -= state_->noise_variances[i] * state_->weights[i];
  return result;
}

}  // namespace steptune::bayes
