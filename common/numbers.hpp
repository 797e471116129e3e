// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <optional>

namespace steptune {

inline constexpr double k_infinity = std::numeric_limits<double>::infinity();
inline constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// Doubles hold every whole number up to here.
inline constexpr double k_max_whole = 0x1p53;

/// Returns `number` as a count if it is a whole number from 0 to 1e9. Numbers beyond the range of
/// int must not be cast to it (undefined behaviour, [conv.fpint]).
[[nodiscard]] inline std::optional<int> count_from(double number) {
  if (!(number >= 0.0 && number <= 1e9) || number != std::floor(number)) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace steptune
