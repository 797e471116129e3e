// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/classifier.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/normal.hpp>

#include "search/searchers/bayes/covariance.hpp"
#include "search/searchers/bayes/feature_columns.hpp"
#include "search/searchers/bayes/inverse_factor.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

constexpr double k_amplitudes[] = {1.0, 3.0, 9.0, 27.0};
// The amplitude is chosen by at most so many outcomes.
constexpr std::size_t k_amplitude_limit = 96;
constexpr double k_least_variance = 1e-9;
constexpr double k_least_curvature = 1e-12;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Even choice of at most `limit` of `count` rows.
std::vector<std::size_t> even_rows(std::size_t count, std::size_t limit) {
  const std::size_t chosen = std::min(count, limit);
  std::vector<std::size_t> rows(chosen);
  for (std::size_t i = 0; i < chosen; ++i)
    rows[i] = i * count / chosen;
  return rows;
}

}  // namespace

struct Classifier::State {
  State(const FeatureGroups& feature_groups, const Hyperparameters& hyperparameters,
        double kernel_amplitude, double prior_mean)
      : groups(feature_groups),
        kernel(hyperparameters),
        mean(prior_mean),
        features(Matrix(feature_groups.group_of_feature.size())) {
    kernel.amplitude = kernel_amplitude;
  }

  FeatureGroups groups;
  Kernel kernel;
  double mean = 0.0;
  double log_evidence = 0.0;
  FeatureColumns features;
  // Each outcome is as a measurement of the latent function's rise over the mean, with noise of its
  // own.
  std::vector<double> measurements;
  std::vector<double> whitened;  // the factor's inverse times measurements
  std::vector<double> slopes;    // covariance^-1 measurements
  InverseFactor factor;          // of covariances and noise

  /// Means of the latent function at rows [first, last) of `at_rows`, whose covariances with the
  /// examples are left in `covariances`.
  [[nodiscard]] std::vector<double> latent_means(const Matrix& at_rows, std::size_t first,
                                                 std::size_t last, Matrix& covariances) const {
    std::vector<double> result(last - first, mean);
    if (first == last) return result;
    kernel.between(at_rows, first, last, features, features.rows(), groups, covariances);
    const at::Tensor rises = at::mv(as_tensor(covariances), as_tensor(slopes));
    const double* rise = rises.data_ptr<double>();
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += rise[i];
    return result;
  }

  /// By section 3.6: mean and variance of the latent value given the outcome are those given a
  /// measurement. `slopes` are left behind.
  void learn(const Matrix& rows, std::size_t row, bool outcome) {
    thread_local Matrix covariances;
    kernel.between(rows, row, row + 1, features, features.rows(), groups, covariances);
    const std::vector<double> projected = factor.projected(covariances.row(0));
    const double rise = dot(projected, whitened);
    const double variance =
        std::max(kernel.amplitude - dot(projected, projected), k_least_variance);
    const double sign = outcome ? 1.0 : -1.0;
    const double spread = std::sqrt(1.0 + variance);
    const double z = sign * (mean + rise) / spread;
    const double log_probability = log_normal_cdf(z);
    const double ratio = slope_of_log_cdf(z, log_probability);
    const double bend = std::max(ratio + z, k_least_variance);
    const double noise = spread * spread / std::max(ratio * bend, k_least_curvature) - variance;
    log_evidence += log_probability;
    features.append(rows.row(row));
    measurements.push_back(rise + sign * spread / bend);
    const double pivot = factor.append_projected(projected, kernel.amplitude + noise);
    whitened.push_back((measurements.back() - rise) / pivot);
  }

  void catch_up() { slopes = factor.solve(measurements); }
};

Classifier::Classifier(const Matrix& features, const std::vector<bool>& outcomes,
                       const FeatureGroups& groups, const Hyperparameters& hyperparameters) {
  const at::InferenceMode no_autograd;
  const auto successes = std::count(outcomes.begin(), outcomes.end(), true);
  const double share =
      (static_cast<double>(successes) + 1.0) / (static_cast<double>(outcomes.size()) + 2.0);
  const double mean = boost::math::quantile(boost::math::normal(), share);
  const auto some = even_rows(outcomes.size(), k_amplitude_limit);
  for (const double amplitude : k_amplitudes) {
    auto state = std::make_unique<State>(groups, hyperparameters, amplitude, mean);
    for (const std::size_t row : some)
      state->learn(features, row, outcomes[row]);
    if (!state_ || state->log_evidence > state_->log_evidence) state_ = std::move(state);
  }
  if (some.size() < outcomes.size()) {
    state_ = std::make_unique<State>(groups, hyperparameters, state_->kernel.amplitude, mean);
    for (std::size_t row = 0; row < outcomes.size(); ++row)
      state_->learn(features, row, outcomes[row]);
  }
  state_->catch_up();
}

void Classifier::append(std::span<const double> features, bool outcome) {
  const at::InferenceMode no_autograd;
  Matrix row(features.size());
  row.append_row(features);
  state_->learn(row, 0, outcome);
  state_->catch_up();
}

Classifier::Classifier(const Classifier& other) : state_(std::make_unique<State>(*other.state_)) {}
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
  const std::vector<double> known = state.factor.explained(rows, state.factor.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double variance = std::max(state.kernel.amplitude - known[i], 0.0);
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
    const double variance = result[i] < 0.0 ? state.kernel.amplitude : 0.0;
    result[i] = log_normal_cdf(result[i] / std::sqrt(1.0 + variance));
  }
  return result;
}

double Classifier::log_evidence() const {
  return state_->log_evidence;
}

}  // namespace steptune::bayes
