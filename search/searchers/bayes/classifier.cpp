// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/classifier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <boost/math/distributions/normal.hpp>

#include "search/searchers/bayes/covariance.hpp"
#include "search/searchers/bayes/inverse_factor.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

constexpr double k_amplitudes[] = {1.0, 3.0, 9.0, 27.0};
constexpr int k_newton_steps = 20;
// The amplitude is chosen by at most so many outcomes.
constexpr std::size_t k_amplitude_limit = 96;

/// The approximate posterior of the latent function under one amplitude.
struct Laplace {
  double amplitude = 1.0;
  std::vector<double> slopes;          ///< of the log likelihood, at the mode
  std::vector<double> root_curvature;  ///< square roots of minus its second derivatives
  std::vector<double> dual;            ///< inverse of the covariance times the latent's rise
  double log_evidence = -std::numeric_limits<double>::infinity();
};

/// Log likelihood of the latent values; writes slopes and curvatures.
double likelihood_at(const std::vector<bool>& outcomes, const std::vector<double>& latent,
                     Laplace& laplace) {
  double total = 0.0;
  for (std::size_t i = 0; i < latent.size(); ++i) {
    const double sign = outcomes[i] ? 1.0 : -1.0;
    const double z = sign * latent[i];
    const double log_probability = log_normal_cdf(z);
    const double ratio = slope_of_log_cdf(z, log_probability);
    laplace.slopes[i] = sign * ratio;
    laplace.root_curvature[i] = std::sqrt(std::max(ratio * (ratio + z), 1e-12));
    total += log_probability;
  }
  return total;
}

/// From `start` as the first dual.
std::optional<Laplace> approximate(const at::Tensor& kernel, const std::vector<bool>& outcomes,
                                   double mean, double amplitude,
                                   const std::vector<double>& start) {
  const std::size_t size = outcomes.size();
  Laplace laplace;
  laplace.amplitude = amplitude;
  laplace.slopes.resize(size);
  laplace.root_curvature.resize(size);
  const at::Tensor covariance = kernel.mul(amplitude);
  std::vector<double> latent(size);
  const auto objective_at = [&](const at::Tensor& dual) {
    const at::Tensor values = at::mv(covariance, dual);
    const double* value = values.data_ptr<double>();
    for (std::size_t i = 0; i < size; ++i)
      latent[i] = mean + value[i];
    return likelihood_at(outcomes, latent, laplace) - 0.5 * at::dot(dual, values).item<double>();
  };
  at::Tensor dual = as_tensor(start).clone();
  at::Tensor last_factor;
  double objective = objective_at(dual);
  for (int step = 0; step < k_newton_steps; ++step) {
    const at::Tensor root = as_tensor(laplace.root_curvature);
    at::Tensor system = covariance.mul(root.unsqueeze(1)).mul_(root.unsqueeze(0));
    system.diagonal().add_(1.0);
    const auto factor = cholesky_with_jitter(system);
    if (!factor) return std::nullopt;
    last_factor = *factor;
    std::vector<double> right(size);
    for (std::size_t i = 0; i < size; ++i) {
      right[i] = laplace.root_curvature[i] * laplace.root_curvature[i] * (latent[i] - mean) +
                 laplace.slopes[i];
    }
    const at::Tensor b = as_tensor(right);
    const at::Tensor solved =
        at::cholesky_solve(root.mul(at::mv(covariance, b)).unsqueeze(1), *factor).squeeze(1);
    const at::Tensor next_dual = b.sub(root.mul(solved));
    // Halved until the objective does not fall: Newton's step may overshoot in the tails.
    double share = 1.0;
    double next_objective = 0.0;
    at::Tensor mixed;
    for (int halving = 0; halving < 6; ++halving, share *= 0.5) {
      mixed = dual.mul(1.0 - share).add(next_dual, share);
      next_objective = objective_at(mixed);
      if (next_objective >= objective - 1e-9) break;
    }
    dual = mixed.clone();
    const double gain = next_objective - objective;
    objective = next_objective;
    if (std::abs(gain) < 1e-4) break;
  }
  if (!std::isfinite(objective)) return std::nullopt;
  laplace.log_evidence = objective - last_factor.diagonal().log().sum().item<double>();
  laplace.dual.assign(dual.data_ptr<double>(), dual.data_ptr<double>() + size);
  return laplace;
}

/// Even choice of at most `limit` of `count` rows.
std::vector<std::size_t> even_rows(std::size_t count, std::size_t limit) {
  const std::size_t chosen = std::min(count, limit);
  std::vector<std::size_t> rows(chosen);
  for (std::size_t i = 0; i < chosen; ++i)
    rows[i] = i * count / chosen;
  return rows;
}

/// The approximation to the outcomes of some rows under the amplitude that makes them likeliest.
std::optional<Laplace> likeliest(const at::Tensor& kernel, const std::vector<bool>& outcomes,
                                 double mean, std::span<const std::size_t> rows) {
  const std::vector<std::int64_t> places(rows.begin(), rows.end());
  const at::Tensor index = at::tensor(places);
  const at::Tensor among = kernel.index_select(0, index).index_select(1, index);
  std::vector<bool> theirs;
  for (const std::size_t row : rows)
    theirs.push_back(outcomes[row]);
  std::optional<Laplace> best;
  for (const double amplitude : k_amplitudes) {
    auto laplace =
        approximate(among, theirs, mean, amplitude, std::vector<double>(rows.size(), 0.0));
    if (laplace && (!best || laplace->log_evidence > best->log_evidence)) best = std::move(laplace);
  }
  return best;
}

}  // namespace

struct Classifier::State {
  State(const Hyperparameters& hyperparameters, const Matrix& rows)
      : kernel(hyperparameters), features(rows) {}

  FeatureGroups groups;
  Kernel kernel;
  FeatureColumns features;
  double mean = 0.0;
  double amplitude = 1.0;
  double log_evidence = 0.0;
  at::Tensor slopes;                    // of the log likelihood, (n)
  std::optional<InverseFactor> factor;  // of covariances and the curvatures' inverses

  /// Means of the latent function at rows [first, last) of `at_rows`, whose covariances with the
  /// examples, of amplitude 1, are left in `covariances`.
  [[nodiscard]] std::vector<double> latent_means(const Matrix& at_rows, std::size_t first,
                                                 std::size_t last, Matrix& covariances) const {
    std::vector<double> result(last - first);
    if (first == last) return result;
    kernel.between(at_rows, first, last, features, features.rows(), groups, covariances);
    const at::Tensor means = at::mv(as_tensor(covariances), slopes);
    const double* value = means.data_ptr<double>();
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = mean + amplitude * value[i];
    return result;
  }
};

Classifier::Classifier(const Matrix& features, const std::vector<bool>& outcomes,
                       const FeatureGroups& groups, const Hyperparameters& hyperparameters)
    : state_(std::make_unique<State>(hyperparameters, features)) {
  const at::InferenceMode no_autograd;
  State& state = *state_;
  state.groups = groups;
  const auto size = static_cast<std::int64_t>(outcomes.size());
  const double share =
      (static_cast<double>(std::count(outcomes.begin(), outcomes.end(), true)) + 1.0) /
      (static_cast<double>(size) + 2.0);
  state.mean = boost::math::quantile(boost::math::normal(), share);
  at::Tensor kernel = lower_covariance(state.kernel, features, state.features, groups,
                                       std::vector<double>(outcomes.size(), 1.0));
  kernel = kernel.tril(-1).add(kernel.tril().t());
  state.slopes = at::zeros({size}, at::kDouble);
  state.log_evidence = -std::numeric_limits<double>::infinity();
  const auto rows = even_rows(outcomes.size(), k_amplitude_limit);
  const auto chosen = likeliest(kernel, outcomes, state.mean, rows);
  if (!chosen) return;
  state.amplitude = chosen->amplitude;
  // What some rows teach about all is where the mode of all is looked for.
  std::vector<double> start(outcomes.size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    start[rows[i]] = chosen->dual[i];
  const auto laplace = approximate(kernel, outcomes, state.mean, state.amplitude, start);
  if (!laplace) return;
  state.log_evidence = laplace->log_evidence;
  state.slopes = as_tensor(laplace->slopes).clone();
  // The inverse of the curvature is the noise that outcomes have as measurements of the latent.
  at::Tensor system = kernel.mul(state.amplitude);
  const at::Tensor roots = as_tensor(laplace->root_curvature);
  system.diagonal().add_(roots.mul(roots).reciprocal());
  state.factor.emplace(system);
}

Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;
Classifier::~Classifier() = default;

std::vector<double> Classifier::log_probabilities(const Matrix& features, std::size_t first,
                                                  std::size_t last) const {
  const at::InferenceMode no_autograd;
  const State& state = *state_;
  thread_local Matrix rows;
  std::vector<double> result = state.latent_means(features, first, last, rows);
  if (result.empty()) return result;
  std::vector<double> known(result.size(), 0.0);
  if (state.factor) known = state.factor->explained(rows, state.factor->size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double variance = std::max(state.amplitude * (1.0 - state.amplitude * known[i]), 0.0);
    result[i] = log_normal_cdf(result[i] / std::sqrt(1.0 + variance));
  }
  return result;
}

std::vector<double> Classifier::log_probability_bounds(const Matrix& features, std::size_t first,
                                                       std::size_t last) const {
  const at::InferenceMode no_autograd;
  const State& state = *state_;
  thread_local Matrix rows;
  std::vector<double> result = state.latent_means(features, first, last, rows);
  for (std::size_t i = 0; i < result.size(); ++i) {
    // Variance draws probabilities towards one half.
    const double variance = result[i] < 0.0 ? state.amplitude : 0.0;
    result[i] = log_normal_cdf(result[i] / std::sqrt(1.0 + variance));
  }
  return result;
}

double Classifier::log_evidence() const {
  return state_->log_evidence;
}

}  // namespace steptune::bayes
