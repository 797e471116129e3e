// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/rng.hpp"
#include "image_classifier/image.hpp"

namespace steptune::example {

/// Where the values of one picture of a batch go: `data[c * channel + y * row + x * column]`.
struct PixelTarget {
  float* data = nullptr;
  int side_px = 0;
  std::ptrdiff_t channel = 0;
  std::ptrdiff_t row = 0;
  std::ptrdiff_t column = 0;
};

/// Takes a random part of a picture (30 to 100 % of its area, sides 3:4 to 4:3), mirrors it half of
/// the time, scales it to the target by averaging, and normalises it to zero mean and unit range.
void augment(const Image& image, Rng& rng, const PixelTarget& target);

}  // namespace steptune::example
