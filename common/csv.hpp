// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// A CSV file's header and rows. Each row has as many cells as the header. Quoted cells may span
/// lines (RFC 4180).
struct Csv {
  std::string where;  ///< name of the file, for errors
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// Returns the index of a column in header and rows. The error for an unknown name suggests the
  /// nearest one.
  [[nodiscard]] Result<std::size_t> column(const std::string& name) const;
};

/// Parses CSV text. Ignores empty lines. Fails if there is no row, if a quote is never closed, or
/// if a row has more or fewer cells than the header. Errors name the file and the line.
[[nodiscard]] Result<Csv> parse_csv(std::string_view text, const std::string& where);

/// Reads and parses a file of at most 256 MiB.
[[nodiscard]] Result<Csv> read_csv_file(const std::filesystem::path& path);

}  // namespace steptune
