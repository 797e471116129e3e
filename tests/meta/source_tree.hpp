// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace steptune {

/// A file of the project, with its path from the root.
struct SourceFile {
  std::filesystem::path path;
  std::string text;
};

/// Returns every C++ file below `folder` of the source tree, ordered by path.
[[nodiscard]] std::vector<SourceFile> cpp_files_below(const std::filesystem::path& folder);

/// Returns the file's quoted includes, with paths from the root of the source tree.
[[nodiscard]] std::vector<std::string> quoted_includes(const SourceFile& file);

}  // namespace steptune
