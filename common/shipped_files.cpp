// SPDX-License-Identifier: Apache-2.0
#include "common/shipped_files.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Returns the folders to search, relative to a prefix. The last folder is the usual name. It
/// serves an installation that was built with other folder names and then moved.
std::vector<fs::path> relative_directories(ShippedKind kind) {
  switch (kind) {
    case ShippedKind::helper:
      // A build tree has the helpers in `bin`.
      return {"bin", fs::path(STEPTUNE_INSTALL_LIBEXECDIR) / "steptune", "libexec/steptune"};
    case ShippedKind::hook:
      return {fs::path(STEPTUNE_INSTALL_DATADIR) / "steptune" / "hooks", "share/steptune/hooks"};
    case ShippedKind::config:
      break;
  }
  return {fs::path(STEPTUNE_INSTALL_DATADIR) / "steptune" / "configs", "share/steptune/configs"};
}

}  // namespace

std::vector<fs::path> shipped_directories(ShippedKind kind) {
  std::vector<fs::path> prefixes;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) prefixes.push_back(program.parent_path().parent_path());
  prefixes.emplace_back(STEPTUNE_INSTALL_PREFIX);
  std::vector<fs::path> directories;
  for (const fs::path& prefix : prefixes) {
    for (const fs::path& relative : relative_directories(kind)) {
      const fs::path directory = prefix / relative;
      if (std::ranges::find(directories, directory) == directories.end()) {
        directories.push_back(directory);
      }
    }
  }
  return directories;
}

std::optional<fs::path> find_file(const std::vector<fs::path>& directories, const fs::path& name) {
  for (const fs::path& directory : directories) {
    std::error_code error;
    if (fs::is_regular_file(directory / name, error)) return directory / name;
  }
  return std::nullopt;
}

std::vector<fs::path> shipped_json_files(const fs::path& name) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path& folder : shipped_directories(ShippedKind::config)) {
    for (const auto& entry : fs::directory_iterator(folder / name, error)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    if (!files.empty()) break;
  }
  std::ranges::sort(files);
  return files;
}

Result<fs::path> find_helper(const std::string& name, const std::string& purpose) {
  const std::vector<fs::path> directories = shipped_directories(ShippedKind::helper);
  if (const auto file = find_file(directories, name)) return *file;
  return fail(ErrorKind::runner, fmt::format("the program {} is missing, {}", name, purpose), {},
              fmt::format("install it in one of {}", directories_text(directories)));
}

std::string directories_text(const std::vector<fs::path>& directories) {
  std::string text;
  for (const fs::path& directory : directories)
    text += (text.empty() ? "" : ", ") + directory.string();
  return text.empty() ? "no directory" : text;
}

}  // namespace steptune
