// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "common/error.hpp"

namespace steptune {

/// Writes a file that appears whole or not at all, whatever happens meanwhile: beside its place,
/// flushed, then renamed over what was there. Missing folders are made.
[[nodiscard]] Result<void> write_whole_file(const std::filesystem::path& file,
                                            std::string_view text);

}  // namespace steptune
