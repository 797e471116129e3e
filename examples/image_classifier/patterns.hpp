// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/rng.hpp"
#include "image_classifier/image.hpp"

namespace steptune::example {

/// Number of patterns that the generator can draw; each is a class.
inline constexpr int k_pattern_count = 10;

/// Returns a pattern's name, which is also its folder's; 0 <= pattern < k_pattern_count.
[[nodiscard]] std::string_view pattern_name(int pattern);

/// Draws a square image of a pattern in random colours, place, size and light, with noise.
[[nodiscard]] Image draw_pattern(int pattern, int side_px, Rng& rng);

}  // namespace steptune::example
