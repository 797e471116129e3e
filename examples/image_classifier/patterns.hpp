// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/rng.hpp"
#include "image_classifier/image.hpp"

namespace steptune::example {

/// Kinds of pictures that the generator can draw, each a class to learn.
inline constexpr int k_pattern_count = 10;

/// Name of a pattern, 0 <= pattern < k_pattern_count; also the name of its folder.
[[nodiscard]] std::string_view pattern_name(int pattern);

/// A square picture of a pattern in random colours, place, size and light, with noise.
[[nodiscard]] Image draw_pattern(int pattern, int side_px, Rng& rng);

}  // namespace steptune::example
