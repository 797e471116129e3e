// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/file_references.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <set>
#include <system_error>

#include "common/text.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// True for keys by which a configuration includes other files. List indices are skipped.
bool names_base(const ConfigScalar& scalar) {
  static const std::set<std::string> k_keys{
      "_base_",   "__base__", "base",    "base_config", "base_cfg", "extends", "inherit",
      "inherits", "parent",   "include", "includes",    "import",   "imports", "_include_"};
  for (auto part = scalar.path.rbegin(); part != scalar.path.rend(); ++part) {
    const bool is_index =
        std::ranges::all_of(*part, [](unsigned char letter) { return std::isdigit(letter) != 0; });
    if (is_index) continue;
    return k_keys.contains(lower_case(*part));
  }
  return false;
}

bool is_reference(const ConfigScalar& scalar, const fs::path& folder,
                  const fs::path& working_directory, bool is_tagged) {
  if (!scalar.value.is_string()) return false;
  const auto path = scalar.value.get<std::string>();
  const bool may_be_path = !path.empty() && path.size() < PATH_MAX && path.front() != '~' &&
                           path.find_first_of(std::string_view("\n\0", 2)) == std::string::npos &&
                           fs::path(path).is_relative();
  if (!may_be_path || !is_there(folder / path)) return false;
  const bool looks_like_path = path.find_first_of("./") != std::string::npos;
  return names_base(scalar) || is_tagged ||
         (looks_like_path && !is_there(working_directory / path));
}

}  // namespace

FileReferences file_references(ConfigFormat format, const std::vector<ConfigScalar>& scalars,
                               std::string_view text, const fs::path& folder,
                               const fs::path& working_directory) {
  FileReferences found;
  for (const ConfigScalar& scalar : scalars) {
    // The program's own YAML loader resolves tags such as `!include x.yaml`. Its folder is unknown,
    // so assume the file's folder.
    const bool is_tagged = text.substr(scalar.begin).starts_with('!');
    if (!is_reference(scalar, folder, working_directory, is_tagged)) continue;
    const auto path = scalar.value.get<std::string>();
    if (!scalar.why_fixed.empty()) {
      found.fixed = path;
      continue;
    }
    const std::string absolute_path = fs::absolute(folder / path).lexically_normal().string();
    const std::string_view present = text.substr(scalar.begin, scalar.end - scalar.begin);
    found.edits.push_back(
        {scalar.begin, scalar.end, config_scalar_text(format, Value(absolute_path), present)});
  }
  return found;
}

}  // namespace steptune
