// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

namespace steptune {

/// Returns `number` as a count if it is a whole number from 0 to 1e9. Numbers beyond the range of
/// int must not be cast to it (undefined behaviour, [conv.fpint]).
[[nodiscard]] inline std::optional<int> count_from(double number) {
  constexpr double k_most = 1e9;
  if (!(number >= 0.0 && number <= k_most) || number != std::floor(number)) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace steptune
