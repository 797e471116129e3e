// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/error.hpp"

namespace steptune::example {

struct GeneratorOptions {
  std::filesystem::path folder;
  int images = 1000;  ///< in total
  int classes = 8;
  int side_px = 512;
  std::uint64_t seed = 1;
};

/// Writes a set of class folders with JPEG pictures. The same options give the same files; a set
/// that is there already is left as it is, an unfinished one is completed. A folder that holds
/// another set, or anything else, is an error.
[[nodiscard]] Result<void> generate_images(const GeneratorOptions& options);

}  // namespace steptune::example
