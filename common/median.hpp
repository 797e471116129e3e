// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace steptune {

/// Returns the middle value; for an even number of values, the mean of the two middle ones. nullopt
/// if empty.
[[nodiscard]] inline std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  // `nth_element` leaves the smaller values before the middle.
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace steptune
