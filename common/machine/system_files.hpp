// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// A file of unknown size, such as those of /proc, read to its end, at most `max_bytes`. Nothing if
/// it cannot be read.
[[nodiscard]] std::optional<std::string> read_system_file(const std::filesystem::path& path,
                                                          std::size_t max_bytes = std::size_t{1}
                                                                                  << 22);

/// What the kernel publishes about the machine in files: the `proc`, `sys` and `dev` folders below
/// `root`, which is `/` or a folder of a test. Paths are relative to it. A file that is missing or
/// unreadable is nothing, never an error: kernels, containers and permissions differ.
struct SystemFiles {
  std::filesystem::path root = "/";

  [[nodiscard]] std::optional<std::string> text(const std::filesystem::path& file) const;
  /// The first line, without its end; nothing if there is none.
  [[nodiscard]] std::optional<std::string> line(const std::filesystem::path& file) const;
  /// The first line's words, separated by blanks.
  [[nodiscard]] std::vector<std::string> words(const std::filesystem::path& file) const;
  /// The first word, where it is a finite number.
  [[nodiscard]] std::optional<double> number(const std::filesystem::path& file) const;
  /// Names in a folder, sorted; none if it cannot be read.
  [[nodiscard]] std::vector<std::string> names(const std::filesystem::path& folder) const;
  [[nodiscard]] bool exists(const std::filesystem::path& file) const;
};

}  // namespace steptune
