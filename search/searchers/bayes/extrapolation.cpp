// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/extrapolation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

  wander_ = k_prior_wander;
  double density = 0.0;
  for (int round = 0; round < k_rounds; ++round) {
    std::array<Terms, k_terms> precision{};
    Terms moment{};
    for (std::size_t i = 0; i < k_terms; ++i)
      precision[i][i] = 1.0 / (k_prior_spreads[i] * k_prior_spreads[i]);
    for (const Step& step : steps_) {
      const Terms terms = terms_of(step.from.fidelity, step.from.value, step.to.fidelity);
      // A later value rests on all that the earlier one does: only what was added is new noise.
      const double noise = std::max(0.0, step.from.noise_variance - step.to.noise_variance);
      const double weight = 1.0 / (wander_ * spread_of(step.from.fidelity, step.to.fidelity) +
                                   noise / (unit_ * unit_));
      const double response = (step.to.value - step.from.value) / unit_;
      for (std::size_t i = 0; i < k_terms; ++i) {
        moment[i] += weight * terms[i] * response;
        for (std::size_t k = 0; k < k_terms; ++k)
          precision[i][k] += weight * terms[i] * terms[k];
      }
    }
    // Gauss-Jordan: the matrix is small and, by its prior, well conditioned.
    std::array<Terms, k_terms> inverse{};
    for (std::size_t i = 0; i < k_terms; ++i)
      inverse[i][i] = 1.0;
    for (std::size_t i = 0; i < k_terms; ++i) {
      const double pivot = precision[i][i];
      for (std::size_t k = 0; k < k_terms; ++k) {
        precision[i][k] /= pivot;
        inverse[i][k] /= pivot;
      }
      for (std::size_t row = 0; row < k_terms; ++row) {
        if (row == i) continue;
        const double factor = precision[row][i];
        for (std::size_t k = 0; k < k_terms; ++k) {
          precision[row][k] -= factor * precision[i][k];
          inverse[row][k] -= factor * inverse[i][k];
        }
      }
    }
    covariance_ = inverse;
    coefficients_ = {};
    for (std::size_t i = 0; i < k_terms; ++i) {
      for (std::size_t k = 0; k < k_terms; ++k)
        coefficients_[i] += inverse[i][k] * moment[k];
    }
    double scatter = k_prior_steps * k_prior_wander;
    density = 0.0;
    for (const Step& step : steps_) {
      const Terms terms = terms_of(step.from.fidelity, step.from.value, step.to.fidelity);
      double residual = (step.to.value - step.from.value) / unit_;
      for (std::size_t i = 0; i < k_terms; ++i)
        residual -= coefficients_[i] * terms[i];
      const double noise = std::max(0.0, step.from.noise_variance - step.to.noise_variance);
      scatter += std::max(0.0, residual * residual - noise / (unit_ * unit_)) /
                 spread_of(step.from.fidelity, step.to.fidelity);
      const double variance =
          wander_ * spread_of(step.from.fidelity, step.to.fidelity) + noise / (unit_ * unit_);
      density -= 0.5 * (std::log(variance) + residual * residual / variance);
    }
    if (round + 1 < k_rounds) wander_ = scatter / (k_prior_steps + count);
  }
  return density;
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
