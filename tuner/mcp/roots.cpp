// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/roots.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/system_reason.hpp"
#include "common/text.hpp"

namespace steptune::mcp {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& path) {
  return printable_line(path.string(), 300);
}

Result<fs::path> without_links(const fs::path& path) {
  std::error_code error;
  fs::path resolved = fs::canonical(path, error);
  if (!error) return resolved;
  return fail(ErrorKind::not_found, fmt::format("cannot be used: {}", system_reason(error.value())),
              shown(path));
}

}  // namespace

Result<Roots> Roots::create(const std::vector<fs::path>& folders) {
  std::vector<fs::path> resolved;
  for (const fs::path& folder : folders) {
    auto path = without_links(folder);
    if (!path) return tl::unexpected(path.error());
    std::error_code error;
    if (!fs::is_directory(*path, error)) {
      return fail(ErrorKind::usage, "is not a folder", shown(folder));
    }
    resolved.push_back(*std::move(path));
  }
  if (resolved.empty()) return fail(ErrorKind::usage, "no folder is given");
  return Roots(std::move(resolved));
}

bool Roots::contain(const fs::path& path) const {
  return std::ranges::any_of(folders_, [&](const fs::path& root) {
    const auto [in_root, in_path] =
        std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    return in_root == root.end();
  });
}

Result<fs::path> Roots::inside(const fs::path& path) const {
  auto resolved = without_links(path);
  if (!resolved || contain(*resolved)) return resolved;
  std::vector<std::string> names;
  for (const fs::path& root : folders_)
    names.push_back(shown(root));
  return fail(ErrorKind::usage, "is outside of the folders in which this server may work",
              shown(*resolved),
              fmt::format("use a folder below {}; a person can allow another one with --root",
                          fmt::join(names, ", ")));
}

Result<fs::path> Roots::folder(const std::string& asked) const {
  auto path = inside(folders_.front() / asked);
  std::error_code error;
  if (path && !fs::is_directory(*path, error)) {
    return fail(ErrorKind::usage, "is not a folder", shown(*path));
  }
  return path;
}

Result<fs::path> Roots::file(const std::string& asked, const fs::path& folder) const {
  auto path = inside(folder / asked);
  std::error_code error;
  if (path && !fs::is_regular_file(*path, error)) {
    return fail(ErrorKind::usage, "is not a file", shown(*path));
  }
  return path;
}

}  // namespace steptune::mcp
