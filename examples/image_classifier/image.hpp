// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptune::example {

/// An image in 8-bit RGB: rows from the top, without padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;

  [[nodiscard]] std::size_t stride() const { return 3 * static_cast<std::size_t>(width); }
};

}  // namespace steptune::example
