// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

namespace steptune {

/// A number from outside as a count of things, if it is one: whole, from 0 to a thousand million.
/// What lies beyond an int must not be cast to one (undefined behaviour, [conv.fpint]).
[[nodiscard]] inline std::optional<int> count_from(double number) {
  constexpr double k_most = 1e9;
  if (!(number >= 0.0 && number <= k_most) || number != std::floor(number)) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace steptune
