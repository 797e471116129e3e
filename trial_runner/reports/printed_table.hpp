// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Cell in a row of a printed table.
struct TableCell {
  std::string name;  ///< from the header; empty if the header has no cell for this column
  std::optional<double> value;  ///< may be NaN or infinite; nullopt for a time or an empty cell
  bool whole = false;
  /// The name is certain, as in comma-separated values. A column that is not named after a counter
  /// is then none.
  bool is_named = false;
};

/// Reads tables that a program prints row by row: a header of words, then rows of numbers. Also
/// reads tables with a name and a value in each row (`|    total_timesteps     | 2048 |`), and
/// comma-separated values with a header. Not thread safe.
class PrintedTable {
 public:
  /// Text of a cell, and its first byte in the line.
  struct Cell {
    std::string text;
    std::size_t at = 0;
  };

  /// Returns the cells of the row in `line`; empty if the line is no row.
  [[nodiscard]] std::vector<TableCell> read(std::string_view line);

 private:
  std::vector<TableCell> read_csv(std::string_view line);

  /// Names the row's cells by the header, if it has as many columns or each cell begins below a
  /// name.
  void name_cells(const std::vector<Cell>& cells, std::vector<TableCell>& row) const;

  std::vector<Cell> header_;
  std::vector<std::string> csv_header_;
};

}  // namespace steptune
