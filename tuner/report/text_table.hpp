// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

enum class Align { left, right };

/// Importance of a column that stays even if the table is too wide.
inline constexpr int k_never_dropped = std::numeric_limits<int>::max();

/// Text table with two spaces between columns and no trailing blanks. Measures widths by
/// `display_width`, so ANSI sequences take no room.
class TextTable {
 public:
  static constexpr std::size_t k_gap = 2;  ///< blanks between columns

  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);

  /// Adds a row. Missing cells are empty. More cells than columns are a programming error.
  void add_row(std::vector<std::string> cells);
  /// Removes a column from all rows. `column` must exist.
  void drop_column(std::size_t column);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  [[nodiscard]] std::size_t width() const;
  /// Returns the title line and the rows, each ending with a newline. If all titles are empty,
  /// leaves out the title line.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;  ///< width of each column
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the width that the column `title` may have in a table that fits into `width` columns of
/// the terminal. Callers cut the column's texts to this width. `emptied` is the table with empty
/// texts in the column. Returns at least 12, so that names stay recognizable. The table may then be
/// too wide.
[[nodiscard]] std::size_t cut_width(std::size_t width, const TextTable& emptied,
                                    std::string_view title);

}  // namespace steptune
