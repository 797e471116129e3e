// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/composition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/normal.hpp>

#include "search/searchers/sobol_points.hpp"

namespace steptune::bayes {

double compose(const Composition& composition, std::span<const double> parts, bool hides) {
  if (composition.structure == Structure::maximum) {
    return *std::max_element(parts.begin(), parts.end());
  }
  double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (hides) sum -= std::min(parts[composition.hidden], parts[composition.cover]);
  return sum;
}

NormalDraws::NormalDraws(std::size_t draws, std::size_t variables)
    : draws_(draws), variables_(variables) {
  SobolPoints sequence(variables, 1);
  for (std::size_t k = 0; k < draws; ++k) {
    for (const double quantile : sequence.next()) {
      const double inside = std::clamp(quantile, 1e-6, 1.0 - 1e-6);
      values_.push_back(boost::math::quantile(boost::math::normal(), inside));
    }
  }
  const double count = static_cast<double>(draws);
  for (std::size_t j = 0; j < variables; ++j) {
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t k = 0; k < draws; ++k)
      mean += values_[k * variables + j] / count;
    for (std::size_t k = 0; k < draws; ++k)
      square += std::pow(values_[k * variables + j] - mean, 2) / count;
    for (std::size_t k = 0; k < draws; ++k)
      values_[k * variables + j] = (values_[k * variables + j] - mean) / std::sqrt(square);
  }
}

}  // namespace steptune::bayes
