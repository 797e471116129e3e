// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/expected_improvement.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"
#include "search/pareto_front.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {

double log_expected_improvement(const Normal& prediction, double best) {
  // log(sigma h(z)), z = (best - mean) / sigma, h(z) = density + z cdf (Ament et al. 2023).
  const double deviation = std::sqrt(prediction.variance);
  return std::log(deviation) + log_improvement((best - prediction.mean) / deviation);
}

std::vector<Pair> pareto_front(const std::vector<Pair>& pairs) {
  std::vector<Pair> front;
  for (const std::size_t index : steptune::pareto_front(pairs))
    front.push_back(pairs[index]);
  return front;
}

double dominated_area(const std::vector<Pair>& front, const Pair& reference) {
  double area = 0.0;
  double height = reference[1];
  for (const Pair& pair : front) {
    if (pair[0] >= reference[0] || pair[1] >= height) continue;
    area += (reference[0] - pair[0]) * (height - pair[1]);
    height = pair[1];
  }
  return area;
}

Pair reference_point(const std::vector<Pair>& front, const std::vector<Pair>& all) {
  Pair reference{};
  for (std::size_t k = 0; k < 2; ++k) {
    const auto by_value = [k](const Pair& a, const Pair& b) { return a[k] < b[k]; };
    const double nadir = (*std::ranges::max_element(front, by_value))[k];
    const auto [best, worst] = std::ranges::minmax_element(all, by_value);
    const double extent = (*worst)[k] - (*best)[k];
    reference[k] = nadir + std::max(0.5 * ((*worst)[k] - nadir), extent > 0.0 ? 0.1 * extent : 1.0);
  }
  return reference;
}

HypervolumeImprovement::HypervolumeImprovement(const std::vector<Pair>& front,
                                               const Pair& reference)
    : reference_(reference) {
  for (const Pair& pair : pareto_front(front)) {
    if (pair[0] < reference[0] && pair[1] < reference[1]) front_.push_back(pair);
  }
}

HypervolumeImprovement HypervolumeImprovement::thinned(std::size_t most) const {
  HypervolumeImprovement result = *this;
  if (front_.size() <= most) return result;
  result.front_.clear();
  for (std::size_t i = 0; i < most; ++i)
    result.front_.push_back(front_[(2 * i + 1) * front_.size() / (2 * most)]);
  return result;
}

double HypervolumeImprovement::log_expected(const Normal& first, const Normal& second) const {
  // Strip i is left of front point i in the first objective and below point i - 1 in the second.
  // Its expected gain is E[(right - max(left, y1))+] E[(height - y2)+].
  double total = -k_infinity;
  double log_left = -k_infinity;
  for (std::size_t i = 0; i <= front_.size(); ++i) {
    const double right = i < front_.size() ? front_[i][0] : reference_[0];
    const double height = i == 0 ? reference_[1] : front_[i - 1][1];
    const double log_right = log_expected_improvement(first, right);
    const double width = log_difference(log_right, log_left);
    log_left = log_right;
    if (std::isinf(width)) continue;
    total = log_sum(total, width + log_expected_improvement(second, height));
  }
  return total;
}

}  // namespace steptune::bayes
