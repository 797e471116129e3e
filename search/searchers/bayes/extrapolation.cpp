// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/extrapolation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/searchers/bayes/covariance.hpp"

namespace steptune::bayes {
namespace {

// Spreads of the coefficients before anything is known, in units: drift, how it depends on the
// value, how it changes on the way.
constexpr double k_prior_spreads[] = {3.0, 0.5, 0.5};
// The wander before anything is known, and how many steps that knowledge is worth.
constexpr double k_prior_wander = 0.1;
constexpr double k_prior_steps = 3.0;
constexpr int k_rounds = 4;

}  // namespace

void Extrapolation::add(const CoursePoint& from, const CoursePoint& to) {
  if (to.fidelity > from.fidelity) steps_.push_back({from, to});
}

Extrapolation::Terms Extrapolation::terms_of(double from_fidelity, double value,
                                             double to_fidelity) const {
  const double begin = std::log(from_fidelity);
  const double end = std::log(to_fidelity);
  const double length = end - begin;
  return {length, length * (value - centre_) / unit_, 0.5 * (end * end - begin * begin)};
}

double Extrapolation::spread_of(double from, double to) const {
  if (decay_ == 0.0) return std::log(to / from);
  return (std::pow(from, -decay_) - std::pow(to, -decay_)) / decay_;
}

void Extrapolation::fit() {
  double best = -std::numeric_limits<double>::infinity();
  double chosen = 0.0;
  for (const double decay : {0.0, 0.5, 1.0, 1.5}) {
    decay_ = decay;
    const double density = fit_with_decay();
    if (density > best) {
      best = density;
      chosen = decay;
    }
  }
  decay_ = chosen;
  (void)fit_with_decay();
}

double Extrapolation::fit_with_decay() {
  double sum = 0.0;
  double squares = 0.0;
  const auto count = static_cast<double>(steps_.size());
  for (const Step& step : steps_)
    sum += step.from.value;
  centre_ = sum / count;
  for (const Step& step : steps_)
    squares += (step.from.value - centre_) * (step.from.value - centre_);
  unit_ = std::max(std::sqrt(squares / count), 1e-9 * (1.0 + std::abs(centre_)));

  const std::vector<Example> examples = this->examples();
  wander_ = k_prior_wander;
  double density = 0.0;
  for (int round = 0; round < k_rounds; ++round) {
    regress(examples);
    double scatter = k_prior_steps * k_prior_wander;
    density = 0.0;
    for (const Example& example : examples) {
      const double residual =
          example.response - std::inner_product(example.terms.begin(), example.terms.end(),
                                                coefficients_.begin(), 0.0);
      const double square = residual * residual;
      scatter += std::max(0.0, square - example.noise_variance) / example.spread;
      const double variance = wander_ * example.spread + example.noise_variance;
      density -= 0.5 * (std::log(variance) + square / variance);
    }
    if (round + 1 < k_rounds) wander_ = scatter / (k_prior_steps + count);
  }
  return density;
}

std::vector<Extrapolation::Example> Extrapolation::examples() const {
  std::vector<Example> result;
  for (const auto& [from, to] : steps_) {
    // A later value rests on all that the earlier one does: only what was added is new noise.
    const double noise = std::max(0.0, from.noise_variance - to.noise_variance);
    result.push_back({terms_of(from.fidelity, from.value, to.fidelity),
                      (to.value - from.value) / unit_, spread_of(from.fidelity, to.fidelity),
                      noise / (unit_ * unit_)});
  }
  return result;
}

void Extrapolation::regress(const std::vector<Example>& examples) {
  const at::InferenceMode no_autograd;
  Matrix precision(k_terms, k_terms);
  Matrix moment(k_terms, 1);
  for (std::size_t i = 0; i < k_terms; ++i)
    precision(i, i) = 1.0 / (k_prior_spreads[i] * k_prior_spreads[i]);
  for (const Example& example : examples) {
    const double weight = 1.0 / (wander_ * example.spread + example.noise_variance);
    for (std::size_t i = 0; i < k_terms; ++i) {
      moment(i, 0) += weight * example.terms[i] * example.response;
      for (std::size_t k = 0; k < k_terms; ++k)
        precision(i, k) += weight * example.terms[i] * example.terms[k];
    }
  }
  const at::Tensor covariance = at::inverse(as_tensor(precision));
  const at::Tensor coefficients = at::matmul(covariance, as_tensor(moment));
  for (std::size_t i = 0; i < k_terms; ++i) {
    coefficients_[i] = coefficients.data_ptr<double>()[i];
    std::copy_n(covariance.contiguous().data_ptr<double>() + i * k_terms, k_terms,
                covariance_[i].begin());
  }
}

Extrapolation::Full Extrapolation::full(const CoursePoint& now) const {
  const Terms terms = terms_of(now.fidelity, now.value, 1.0);
  double drift = 0.0;
  double variance = 0.0;
  for (std::size_t i = 0; i < k_terms; ++i) {
    drift += coefficients_[i] * terms[i];
    for (std::size_t k = 0; k < k_terms; ++k)
      variance += terms[i] * covariance_[i][k] * terms[k];
  }
  return {now.value + unit_ * drift,
          unit_ * unit_ * wander_ * spread_of(now.fidelity, 1.0) + now.noise_variance,
          unit_ * unit_ * variance};
}

}  // namespace steptune::bayes
