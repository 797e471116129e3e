// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tuner/report/format.hpp"

namespace steptune {
namespace {

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<TextTable::Column>& columns,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t padding = widths[i] - display_width(cells[i]);
    if (i > 0) line.append(TextTable::k_gap, ' ');
    if (columns[i].align == Align::right) line.append(padding, ' ');
    line += cells[i];
    if (columns[i].align == Align::left) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_)
    widths_.push_back(display_width(column.title));
}

void TextTable::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("more cells than columns");
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(cells[i]));
  rows_.push_back(std::move(cells));
}

void TextTable::drop_column(std::size_t column) {
  const auto place = static_cast<std::ptrdiff_t>(column);
  columns_.erase(columns_.begin() + place);
  widths_.erase(widths_.begin() + place);
  for (auto& row : rows_)
    row.erase(row.begin() + place);
}

std::size_t TextTable::width() const {
  if (widths_.empty()) return 0;
  return std::accumulate(widths_.begin(), widths_.end(), std::size_t{0}) +
         TextTable::k_gap * (widths_.size() - 1);
}

std::string TextTable::text() const {
  std::string result;
  std::vector<std::string> titles;
  for (const Column& column : columns_)
    titles.push_back(column.title);
  const bool titled =
      std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  if (titled) append_line(result, titles, columns_, widths_);
  for (const auto& row : rows_)
    append_line(result, row, columns_, widths_);
  return result;
}

std::size_t cut_width(std::size_t width, const TextTable& emptied, std::string_view title) {
  const std::size_t beside = emptied.width() - display_width(title);
  return std::max(std::size_t{12}, width > beside ? width - beside : 0);
}

}  // namespace steptune
