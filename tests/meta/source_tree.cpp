// SPDX-License-Identifier: Apache-2.0
#include "tests/meta/source_tree.hpp"

#include <algorithm>
#include <regex>

#include "tests/support/read_file.hpp"

namespace steptune {

std::vector<SourceFile> cpp_files_below(const std::filesystem::path& folder) {
  const std::filesystem::path root = STEPTUNE_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    files.push_back({std::filesystem::relative(entry.path(), root), read_file(entry.path())});
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> quoted_includes(const SourceFile& file) {
  static const std::regex k_include("(?:^|\\n)\\s*#\\s*include\\s*\"([^\"]+)\"");
  std::vector<std::string> includes;
  for (std::sregex_iterator match(file.text.begin(), file.text.end(), k_include), end; match != end;
       ++match) {
    includes.push_back((*match)[1]);
  }
  return includes;
}

}  // namespace steptune
