// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/rng.hpp"
#include "image_classifier/image.hpp"

namespace steptune::example {

/// Destination of one image of a batch: `data[c * channel + y * row + x * column]`.
struct PixelTarget {
  float* data = nullptr;
  int side_px = 0;
  std::ptrdiff_t channel = 0;
  std::ptrdiff_t row = 0;
  std::ptrdiff_t column = 0;
};

/// Takes a random crop of an image (30 to 100 % of its area, sides 3:4 to 4:3) and mirrors it with
/// probability one half. Scales it to the target by averaging, and maps its values to the range -1
/// to 1.
void augment(const Image& image, Rng& rng, const PixelTarget& target);

}  // namespace steptune::example
