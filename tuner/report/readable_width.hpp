// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace steptune {

/// Widest text in columns. Longer lines are hard to read.
inline constexpr std::size_t k_readable_width = 100;

/// Returns the width at which texts are wrapped on a terminal of `width` columns; 0: no limit.
[[nodiscard]] inline std::size_t readable_width(std::size_t width) {
  return std::min(width, k_readable_width);
}

}  // namespace steptune
