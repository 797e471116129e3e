// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace steptune {

enum class Align { left, right };

/// Rows and columns as text, two spaces between columns, no trailing blanks. Widths are those of
/// `display_width`; ANSI sequences take no room.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);

  /// Missing cells are empty; more cells than columns are a programmer's error.
  void add_row(std::vector<std::string> cells);
  /// Takes a column away from all rows. `column` exists.
  void drop_column(std::size_t column);

  [[nodiscard]] std::size_t width() const;
  /// Title line and rows, each ending with a newline; no title line if all titles are empty.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;  ///< of the columns
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace steptune
