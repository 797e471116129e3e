// SPDX-License-Identifier: Apache-2.0
#include "image_classifier/augment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace steptune::example {

namespace {

struct Crop {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

int part_of(int side_px, double length_px) {
  return std::clamp(static_cast<int>(std::lround(length_px)), 1, side_px);
}

int random_offset(int side_px, int length_px, Rng& rng) {
  return static_cast<int>(rng.below(static_cast<std::uint64_t>(side_px - length_px + 1)));
}

Crop random_crop(const Image& image, Rng& rng) {
  const double area = (0.3 + 0.7 * rng.uniform()) * image.width * image.height;
  // The logarithm is uniform, so that wide and high crops are equally likely.
  const double aspect = std::pow(4.0 / 3.0, 2.0 * rng.uniform() - 1.0);
  Crop crop;
  crop.width = part_of(image.width, std::sqrt(area * aspect));
  crop.height = part_of(image.height, std::sqrt(area / aspect));
  crop.left = random_offset(image.width, crop.width, rng);
  crop.top = random_offset(image.height, crop.height, rng);
  return crop;
}

/// Returns the pixels [first, second) of a side of `length` that target pixel `index` of `count`
/// covers; at least one.
std::pair<int, int> covered(int index, int count, int length) {
  const int begin = static_cast<int>(std::int64_t{index} * length / count);
  const int end = static_cast<int>(std::int64_t{index + 1} * length / count);
  return {begin, std::max(begin + 1, end)};
}

}  // namespace

void augment(const Image& image, Rng& rng, const PixelTarget& target) {
  const Crop crop = random_crop(image, rng);
  const bool mirrored = rng.uniform() < 0.5;
  for (int y = 0; y < target.side_px; ++y) {
    const auto [top, bottom] = covered(y, target.side_px, crop.height);
    for (int x = 0; x < target.side_px; ++x) {
      const auto [left, right] =
          covered(mirrored ? target.side_px - 1 - x : x, target.side_px, crop.width);
      int sums[3] = {0, 0, 0};
      for (int row = crop.top + top; row < crop.top + bottom; ++row) {
        const std::uint8_t* pixel = image.pixels.data() +
                                    static_cast<std::size_t>(row) * image.stride() +
                                    3 * static_cast<std::size_t>(crop.left + left);
        for (int column = left; column < right; ++column, pixel += 3) {
          sums[0] += pixel[0];
          sums[1] += pixel[1];
          sums[2] += pixel[2];
        }
      }
      const float scale = 1.0F / (127.5F * static_cast<float>((bottom - top) * (right - left)));
      float* out = target.data + y * target.row + x * target.column;
      for (int channel = 0; channel < 3; ++channel) {
        out[channel * target.channel] = static_cast<float>(sums[channel]) * scale - 1.0F;
      }
    }
  }
}

}  // namespace steptune::example
