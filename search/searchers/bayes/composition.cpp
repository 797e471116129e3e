// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/composition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

// A part known to less than a factor of exp(2) is not known; wider moments would swamp all others.
constexpr double k_largest_variance = 4.0;

Normal log_of_sum(std::span<const Normal> parts) {
  double largest = parts[0].mean;
  for (const Normal& part : parts)
    largest = std::max(largest, part.mean);
  double mean = 0.0;
  double variance = 0.0;
  for (const Normal& part : parts) {
    const double spread = std::min(part.variance, k_largest_variance);
    const double expected = std::exp(part.mean - largest + 0.5 * spread);
    mean += expected;
    variance += expected * expected * std::expm1(spread);
  }
  const double log_variance = std::log1p(variance / (mean * mean));
  return {largest + std::log(mean) - 0.5 * log_variance, log_variance};
}

Normal larger_of(const Normal& a, const Normal& b) {
  const double deviation = std::sqrt(a.variance + b.variance);
  if (!(deviation > 0.0)) return a.mean >= b.mean ? a : b;
  const double z = (a.mean - b.mean) / deviation;
  const double density = normal_density(z);
  const double above = normal_cdf(z);
  const double below = normal_cdf(-z);
  // Moments about the larger mean, so that nothing cancels.
  const double origin = std::max(a.mean, b.mean);
  const double da = a.mean - origin;
  const double db = b.mean - origin;
  const double first = da * above + db * below + deviation * density;
  const double second = (da * da + a.variance) * above + (db * db + b.variance) * below +
                        (da + db) * deviation * density;
  return {origin + first,
          std::max(second - first * first, 1e-3 * std::min(a.variance, b.variance))};
}

}  // namespace

double compose(Composition composition, std::span<const double> parts) {
  return composition == Composition::sum ? std::accumulate(parts.begin(), parts.end(), 0.0)
                                         : *std::max_element(parts.begin(), parts.end());
}

Normal compose_logarithms(Composition composition, std::span<const Normal> log_parts) {
  if (composition == Composition::sum) return log_of_sum(log_parts);
  return std::accumulate(log_parts.begin() + 1, log_parts.end(), log_parts[0], larger_of);
}

}  // namespace steptune::bayes
