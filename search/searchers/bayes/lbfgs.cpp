// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace steptune::bayes {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest(const Vector& vector) {
  double result = 0.0;
  for (const double value : vector)
    result = std::max(result, std::abs(value));
  return result;
}

struct Correction {
  Vector step;
  Vector change;  // of the gradient
  double curvature = 0.0;
};

Vector descent_direction(const std::deque<Correction>& corrections, const Vector& gradient) {
  Vector direction(gradient);
  Vector factors(corrections.size());
  for (std::size_t i = corrections.size(); i-- > 0;) {
    const Correction& correction = corrections[i];
    factors[i] = dot(correction.step, direction) / correction.curvature;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      direction[k] -= factors[i] * correction.change[k];
    }
  }
  if (!corrections.empty()) {
    const Correction& last = corrections.back();
    const double scale = last.curvature / dot(last.change, last.change);
    for (double& value : direction)
      value *= scale;
  }
  for (std::size_t i = 0; i < corrections.size(); ++i) {
    const Correction& correction = corrections[i];
    const double factor = factors[i] - dot(correction.change, direction) / correction.curvature;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      direction[k] += factor * correction.step[k];
    }
  }
  for (double& value : direction)
    value = -value;
  return direction;
}

}  // namespace

LbfgsResult minimise_lbfgs(const DifferentiableFunction& function, std::span<const double> start,
                           const LbfgsOptions& options) {
  LbfgsResult result{Vector(start.begin(), start.end()), 0.0, 1};
  Vector gradient(start.size());
  result.value = function(result.x, gradient);
  if (!std::isfinite(result.value)) return result;

  std::deque<Correction> corrections;
  while (result.evaluations < options.max_evaluations &&
         largest(gradient) > options.gradient_tolerance) {
    Vector direction = descent_direction(corrections, gradient);
    double slope = dot(direction, gradient);
    if (!(slope < 0.0)) {
      corrections.clear();
      for (std::size_t k = 0; k < direction.size(); ++k)
        direction[k] = -gradient[k];
      slope = dot(direction, gradient);
    }
    const double length = largest(direction);
    double step = corrections.empty() ? std::min(1.0, 0.5 / length) : 1.0;
    step = std::min(step, options.max_step / length);

    Vector x(result.x.size());
    Vector next_gradient(x.size());
    double value = 0.0;
    bool accepted = false;
    while (result.evaluations < options.max_evaluations) {
      for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = result.x[k] + step * direction[k];
      value = function(x, next_gradient);
      ++result.evaluations;
      if (std::isfinite(value) && value <= result.value + 1e-4 * step * slope) {
        accepted = true;
        break;
      }
      // Step to the minimum of the parabola through both values and the slope. Limit the ratio of
      // the new step to the old to [0.1, 0.5].
      const double curvature = 2.0 * (value - result.value - step * slope);
      const double ratio = curvature > 0.0 ? -slope * step / curvature : 0.5;
      step *= std::isfinite(ratio) ? std::clamp(ratio, 0.1, 0.5) : 0.1;
      if (step * length < 1e-9) break;
    }
    if (!accepted) break;

    Correction correction{Vector(x.size()), Vector(x.size()), 0.0};
    for (std::size_t k = 0; k < x.size(); ++k) {
      correction.step[k] = x[k] - result.x[k];
      correction.change[k] = next_gradient[k] - gradient[k];
    }
    correction.curvature = dot(correction.step, correction.change);
    const double improvement = result.value - value;
    result.x = std::move(x);
    result.value = value;
    gradient = std::move(next_gradient);
    if (correction.curvature > 1e-10 * dot(correction.change, correction.change)) {
      corrections.push_back(std::move(correction));
      if (corrections.size() > static_cast<std::size_t>(options.memory)) corrections.pop_front();
    }
    if (improvement < options.value_tolerance) break;
  }
  return result;
}

}  // namespace steptune::bayes
