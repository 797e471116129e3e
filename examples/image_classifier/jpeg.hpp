// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "common/error.hpp"
#include "image_classifier/image.hpp"

namespace steptune::example {

/// Decodes a JPEG file of at most 64 MiB and 16384 pixels a side to RGB. A truncated file is an
/// error. Thread-safe.
[[nodiscard]] Result<Image> read_jpeg(const std::filesystem::path& file);

/// Writes `image` with the given quality (1 to 100). The file appears complete or not at all.
[[nodiscard]] Result<void> write_jpeg(const std::filesystem::path& file, const Image& image,
                                      int quality);

}  // namespace steptune::example
