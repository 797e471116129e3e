// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/error.hpp"

namespace steptune::example {

struct GeneratorOptions {
  std::filesystem::path folder;
  int images = 1000;  ///< number of all images
  int classes = 8;
  int side_px = 512;
  std::uint64_t seed = 1;
};

/// Writes class folders with JPEG images. The same options give the same files. A complete set is
/// left unchanged, an unfinished one is completed. A folder with another set or other files is an
/// error.
[[nodiscard]] Result<void> generate_images(const GeneratorOptions& options);

}  // namespace steptune::example
