// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "search/searchers/bayes/covariance.hpp"

namespace steptune::bayes {

struct GaussianProcess::State {
  explicit State(const Hyperparameters& hyperparameters) : kernel(hyperparameters) {}

  FeatureGroups groups;
  Kernel kernel;
  double amplitude = 1.0;
  double floor = 0.0;
  Matrix features;
  at::Tensor inverse_factor;  // of the Cholesky factor, (n, n), lower triangular
  at::Tensor weights;         // covariance^-1 targets, (n)
  std::vector<double> targets;
};

GaussianProcess::GaussianProcess(const TrainingSet& training, const FeatureGroups& groups,
                                 const Hyperparameters& hyperparameters)
    : state_(std::make_unique<State>(hyperparameters)) {
  const at::InferenceMode no_autograd;
  State& state = *state_;
  state.groups = groups;
  state.amplitude = std::exp(hyperparameters.log_amplitude);
  state.floor = std::exp(hyperparameters.log_noise);
  state.features = training.features;
  state.targets = training.targets;

  std::vector<double> diagonal = training.noise_variances;
  for (double& variance : diagonal)
    variance += state.amplitude + state.floor;
  const PairDistances pairs(training.features, groups);
  const at::Tensor covariance =
      covariance_matrix(PairCovariances(pairs, state.kernel, false), diagonal, state.amplitude);
  auto factor = cholesky_with_jitter(covariance);
  // Independent targets are the honest answer to a covariance that no jitter repairs.
  if (!factor) factor = at::diag(covariance.diagonal().sqrt());
  const auto size = static_cast<std::int64_t>(training.size());
  state.inverse_factor = at::linalg_solve_triangular(*factor, at::eye(size, at::kDouble), false);
  state.weights =
      at::mv(state.inverse_factor.t(), at::mv(state.inverse_factor, as_tensor(training.targets)));
}

GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

Posterior GaussianProcess::predict(const Matrix& features, std::size_t first,
                                   std::size_t last) const {
  const at::InferenceMode no_autograd;
  const State& state = *state_;
  Posterior posterior{std::vector<double>(last - first), std::vector<double>(last - first)};
  if (first == last) return posterior;
  const Matrix rows = state.kernel.between(features, first, last, state.features, state.groups);
  const at::Tensor covariance = as_tensor(rows).mul(state.amplitude);
  const at::Tensor means = at::mv(covariance, state.weights);
  const at::Tensor projected = at::mm(covariance, state.inverse_factor.t());
  const at::Tensor variances = projected.mul(projected).sum(1).neg_().add_(state.amplitude);
  std::copy_n(means.data_ptr<double>(), posterior.means.size(), posterior.means.begin());
  const double smallest = 1e-10 * state.amplitude;
  std::transform(variances.data_ptr<double>(),
                 variances.data_ptr<double>() + posterior.variances.size(),
                 posterior.variances.begin(),
                 [&](double variance) { return std::max(variance, smallest) + state.floor; });
  return posterior;
}

GaussianProcess::LeaveOneOut GaussianProcess::leave_one_out() const {
  const at::InferenceMode no_autograd;
  const State& state = *state_;
  const at::Tensor precisions = state.inverse_factor.mul(state.inverse_factor).sum(0).contiguous();
  const double* precision = precisions.data_ptr<double>();
  const double* weight = state.weights.data_ptr<double>();
  LeaveOneOut result;
  for (std::size_t i = 0; i < state.targets.size(); ++i) {
    const double variance = 1.0 / precision[i];
    const double deviation = weight[i] * variance;
    result.posterior.means.push_back(state.targets[i] - deviation);
    result.posterior.variances.push_back(variance);
    result.log_densities.push_back(-0.5 * std::log(2.0 * std::numbers::pi * variance) -
                                   0.5 * deviation * deviation / variance);
  }
  return result;
}

double GaussianProcess::prior_variance() const {
  return state_->amplitude;
}

void use_one_thread_per_call() {
  at::set_num_threads(1);
  // OpenBLAS keeps threads of its own, which LibTorch's setting does not reach.
  using SetThreads = void (*)(int);
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); symbol != nullptr) {
    reinterpret_cast<SetThreads>(symbol)(1);
  }
}

}  // namespace steptune::bayes
