// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Reads a file of unknown size, such as those of /proc, up to `max_bytes`. Returns nullopt if it
/// cannot be read.
[[nodiscard]] std::optional<std::string> read_system_file(const std::filesystem::path& path,
                                                          std::size_t max_bytes = std::size_t{1}
                                                                                  << 22);

/// Files that describe the machine, most of them in the kernel's folders `proc`, `sys` and `dev`.
/// Paths are relative to `root`, which is `/` or a test's folder. A file that is missing or cannot
/// be read gives nullopt, never an error: kernels, containers and permissions differ.
struct SystemFiles {
  std::filesystem::path root = "/";

  [[nodiscard]] std::optional<std::string> text(const std::filesystem::path& file) const;
  /// Returns the first line without its end; nullopt if there is none.
  [[nodiscard]] std::optional<std::string> line(const std::filesystem::path& file) const;
  /// Returns the first line's words, separated by blanks.
  [[nodiscard]] std::vector<std::string> words(const std::filesystem::path& file) const;
  /// Returns the first word if it is a finite number.
  [[nodiscard]] std::optional<double> number(const std::filesystem::path& file) const;
  /// Returns the names in a folder, sorted; empty if it cannot be read.
  [[nodiscard]] std::vector<std::string> names(const std::filesystem::path& folder) const;
  [[nodiscard]] bool exists(const std::filesystem::path& file) const;
};

}  // namespace steptune
