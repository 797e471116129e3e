// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace steptune {

/// A file of the project, by its path from the root.
struct SourceFile {
  std::filesystem::path path;
  std::string text;
};

/// Every C++ file below `folder` of the source tree, in order of path.
[[nodiscard]] std::vector<SourceFile> cpp_files_below(const std::filesystem::path& folder);

/// What a file includes in quotes, from the root of the source tree.
[[nodiscard]] std::vector<std::string> quoted_includes(const SourceFile& file);

}  // namespace steptune
