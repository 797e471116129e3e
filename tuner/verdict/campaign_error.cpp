// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/campaign_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/interval.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {
namespace {

/// Returns the share of an earned error that one later test may spend. `distance` (1, 2, ...):
/// number of tests since the error was earned. All shares add up to 1. They decrease slowly, so
/// that a long campaign can still find something.
double portion(std::size_t distance) {
  const auto n = static_cast<double>(distance);
  return 1.0 / std::sqrt(n) - 1.0 / std::sqrt(n + 1.0);
}

}  // namespace

double campaign_error(const std::vector<bool>& kept) {
  const std::size_t tests = kept.size();
  double error = 0.5 * k_error_95 * portion(tests + 1);
  bool is_first = true;
  for (std::size_t i = 0; i < tests; ++i) {
    if (!kept[i]) continue;
    error += (is_first ? 0.5 : 1.0) * k_error_95 * portion(tests - i);
    is_first = false;
  }
  return std::min(error, k_one_sided_error);
}

}  // namespace steptune
