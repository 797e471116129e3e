// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/hyperparameters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace steptune::bayes {

double LogNormal::penalty(double value, double& gradient) const {
  const double z = (value - location) / spread;
  gradient += z / spread;
  return 0.5 * z * z;
}

std::vector<double> Hyperparameters::flat() const {
  std::vector<double> result(log_lengthscales);
  result.push_back(log_amplitude);
  result.push_back(log_noise);
  result.push_back(additive_odds);
  return result;
}

Hyperparameters Hyperparameters::from_flat(std::span<const double> flat) {
  Hyperparameters result;
  result.log_lengthscales.assign(flat.begin(), flat.end() - 3);
  result.log_amplitude = flat[flat.size() - 3];
  result.log_noise = flat[flat.size() - 2];
  result.additive_odds = flat[flat.size() - 1];
  return result;
}

Prior Prior::dimension_scaled(std::size_t dimensions) {
  const double count = static_cast<double>(std::max<std::size_t>(dimensions, 1));
  Prior result;
  // In Hvarfner, Hellsten and Nardi 2024, the density over the lengthscale is log-normal, with
  // location sqrt(2) + log(d) / 2 and spread sqrt(3). The logarithm of its mode is lower than that
  // of its median by the square of the spread. This normal distribution over the logarithm has the
  // same mode.
  result.lengthscale = {std::numbers::sqrt2 - 3.0 + 0.5 * std::log(count), std::numbers::sqrt3};
  return result;
}

Prior Prior::smooth(std::size_t dimensions) {
  Prior result = dimension_scaled(dimensions);
  result.lengthscale.location += 3.0;
  return result;
}

Prior Prior::flat() {
  Prior result;
  result.lengthscale = {0.0, 1.0};
  return result;
}

Hyperparameters Prior::start(std::size_t dimensions) const {
  // From a tiny noise, a fit would not find a larger one, because the gradient there is flat.
  return {std::vector<double>(dimensions, lengthscale.location), amplitude.location,
          std::max(noise.location, -3.0), additive_odds.location};
}

Hyperparameters Prior::rugged_start(std::size_t dimensions) const {
  return {std::vector<double>(dimensions, -0.5), amplitude.location, -7.0, -1.0};
}

}  // namespace steptune::bayes
