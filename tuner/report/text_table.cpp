// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_gap = 2;

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<TextTable::Column>& columns,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t padding = widths[i] - display_width(cells[i]);
    if (i > 0) line.append(k_gap, ' ');
    if (columns[i].align == Align::right) line.append(padding, ' ');
    line += cells[i];
    if (columns[i].align == Align::left) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_)
      width = std::max(width, display_width(row[i]));
    result.push_back(width);
  }
  return result;
}

std::size_t TextTable::width() const {
  const auto all = widths();
  if (all.empty()) return 0;
  return std::accumulate(all.begin(), all.end(), std::size_t{0}) + k_gap * (all.size() - 1);
}

std::string TextTable::text() const {
  const auto all = widths();
  std::string result;
  std::vector<std::string> titles;
  for (const Column& column : columns_)
    titles.push_back(column.title);
  const bool titled =
      std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  if (titled) append_line(result, titles, columns_, all);
  for (const auto& row : rows_)
    append_line(result, row, columns_, all);
  return result;
}

}  // namespace steptune
