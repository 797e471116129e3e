// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// A CSV file's header and rows, each with as many cells as the header. Cells may be quoted and
/// then run over lines (RFC 4180).
struct Csv {
  std::string where;  ///< the file, for errors
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// The place of a column in header and rows; an error names the nearest one.
  [[nodiscard]] Result<std::size_t> column(const std::string& name) const;
};

/// Errors name file and line: rows of another width than the header, a quote that is never closed,
/// no row at all.
[[nodiscard]] Result<Csv> parse_csv(std::string_view text, const std::string& where);

/// `parse_csv` of a file's content, which may be 256 MiB at most.
[[nodiscard]] Result<Csv> read_csv_file(const std::filesystem::path& path);

}  // namespace steptune
