// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace steptune::mcp {

/// Folders in which the server may start programs. Symbolic links are resolved, so that a link
/// cannot lead out of them.
class Roots {
 public:
  /// Fails if no folder is given, or if a path is no folder.
  [[nodiscard]] static Result<Roots> create(const std::vector<std::filesystem::path>& folders);

  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }

  /// Returns the folder without symbolic links. A relative path starts at the first root; an empty
  /// path is the first root. Fails if there is no such folder, or if it is outside of all roots.
  [[nodiscard]] Result<std::filesystem::path> folder(const std::string& asked) const;

  /// Returns the file without symbolic links. A relative path starts at `folder`. Fails if there is
  /// no such file, or if it is outside of all roots.
  [[nodiscard]] Result<std::filesystem::path> file(const std::string& asked,
                                                   const std::filesystem::path& folder) const;

 private:
  explicit Roots(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}
  [[nodiscard]] bool contain(const std::filesystem::path& path) const;
  [[nodiscard]] Result<std::filesystem::path> inside(const std::filesystem::path& path) const;

  std::vector<std::filesystem::path> folders_;  ///< absolute, without symbolic links; not empty
};

}  // namespace steptune::mcp
