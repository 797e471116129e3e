// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace steptune {

/// Returns the printable texts of a native executable, one per line, at most 1 MiB. A program
/// without `--help` often holds its usage text there. Returns an empty text if the file cannot be
/// read.
[[nodiscard]] std::string texts_of_executable(const std::filesystem::path& file);

}  // namespace steptune
