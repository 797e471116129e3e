// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/earlier_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace steptune {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

double variance_of(const Scatter& scatter) {
  return std::max(scatter.variance(), k_least_pair_variance);
}

/// Returns the variance of the judgements' log variances. Subtracts the part that arises because
/// each log variance is estimated from few pairs.
double variance_of_log_variances(const std::vector<Scatter>& judgements) {
  const auto count = static_cast<double>(judgements.size());
  const auto log_variance = [](const Scatter& scatter) {
    const double half = 0.5 * scatter.degrees_of_freedom;
    return std::log(variance_of(scatter)) - digamma(half) + std::log(half);
  };
  double mean = 0.0;
  double by_chance = 0.0;
  for (const Scatter& scatter : judgements) {
    mean += log_variance(scatter) / count;
    by_chance += trigamma(0.5 * scatter.degrees_of_freedom) / count;
  }
  double squares = 0.0;
  for (const Scatter& scatter : judgements)
    squares += std::pow(log_variance(scatter) - mean, 2);
  return squares / (count - 1.0) - by_chance;
}

/// Returns the degrees of freedom, at most `most`, at which the logarithm of an estimated variance
/// has the variance `variance_of_log`.
double degrees_of_freedom(double variance_of_log, double most) {
  double low = 0.0;
  double high = most;
  if (!(variance_of_log > trigamma(0.5 * most))) return most;
  while (high - low > 1e-3 * high) {
    const double middle = 0.5 * (low + high);
    (trigamma(0.5 * middle) > variance_of_log ? low : high) = middle;
  }
  return high;
}

}  // namespace

Scatter scatter_of_judgement(const std::vector<Scatter>& commands) {
  Scatter sum;
  double count = 0.0;
  for (const Scatter& command : commands) {
    if (command.degrees_of_freedom < 1.0) continue;
    sum.squares += command.squares;
    sum.degrees_of_freedom += command.degrees_of_freedom;
    count += 1.0;
  }
  return count > 0.0 ? Scatter{sum.squares / count, sum.degrees_of_freedom / count} : sum;
}

Scatter pooled_scatter(const std::vector<Scatter>& judgements) {
  std::vector<Scatter> measured;
  std::ranges::copy_if(judgements, std::back_inserter(measured), [](const Scatter& scatter) {
    return scatter.degrees_of_freedom >= 1.0 && std::isfinite(scatter.squares);
  });
  if (measured.empty()) return {};
  double squares = 0.0;
  double most = 0.0;
  for (const Scatter& scatter : measured) {
    squares += scatter.degrees_of_freedom * variance_of(scatter);
    most += scatter.degrees_of_freedom;
  }
  const double variance_of_log = measured.size() > 1 ? variance_of_log_variances(measured) : 0.0;
  const double freedom = degrees_of_freedom(variance_of_log, most);
  return {freedom * squares / most, freedom};
}

}  // namespace steptune
