// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/printed_table.hpp"

#include <algorithm>
#include <cmath>

#include <re2/re2.h>

#include "common/numbers.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

using Cell = PrintedTable::Cell;

/// Smallest number of columns of a row: two numbers in a line need not be a table.
constexpr std::size_t k_least_columns = 3;
/// Most bytes of a row. Bounds the number of columns, too.
constexpr std::size_t k_longest_row = 512;

/// Splits at bars, tabs and blanks; a single blank may be part of a name.
std::vector<Cell> cells_of(std::string_view line, bool splits_at_single_blanks) {
  std::vector<Cell> cells;
  std::string cell;
  std::size_t at = 0;
  const auto end_cell = [&] {
    while (cell.ends_with(' '))
      cell.pop_back();
    if (!cell.empty()) cells.push_back({std::move(cell), at});
    cell.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool blank = line[i] == ' ';
    const bool wide = blank && i + 1 < line.size() && line[i + 1] == ' ';
    if (line[i] == '|' || line[i] == '\t' || wide || (blank && splits_at_single_blanks)) {
      end_cell();
    } else if (!blank || !cell.empty()) {
      if (cell.empty()) at = i;
      cell += line[i];
    }
  }
  end_cell();
  return cells;
}

struct CellNumber {
  std::optional<double> value;  ///< nullopt: a cell without a number, such as `00:12` and `-`
  bool whole = false;
};
/// Parses a row's cell: `12`, `0.5`, `3.50s`, `12%`, `nan`, `-inf`, `00:12`, `-`, `[0.3, 1.5]`.
/// Returns nullopt for other texts; a line with such a cell is no row.
std::optional<CellNumber> number_of_cell(const std::string& cell) {
  static const re2::RE2 k_number(R"(([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?:s|m|%)?)",
                                 re2::RE2::Quiet);
  static const re2::RE2 k_not_finite(R"(([+-]?)(?i:(nan)|inf|infinity))", re2::RE2::Quiet);
  static const re2::RE2 k_no_number(R"((?:\d+:)?\d+:\d\d|-+|N/?A|n\.a\.|\[.*\])", re2::RE2::Quiet);
  std::string digits;
  if (re2::RE2::FullMatch(cell, k_number, &digits)) {
    const auto value = parse_finite(digits);
    if (!value) return std::nullopt;
    return CellNumber{*value, cell.find_first_not_of("0123456789") == std::string::npos};
  }
  std::string sign, nan;
  if (re2::RE2::FullMatch(cell, k_not_finite, &sign, &nan)) {
    if (!nan.empty()) return CellNumber{k_nan};
    return CellNumber{sign == "-" ? -k_infinity : k_infinity};
  }
  if (re2::RE2::FullMatch(cell, k_no_number)) return CellNumber{};
  return std::nullopt;
}

bool has_letter(const std::string& cell) {
  return std::ranges::any_of(
      cell, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '#'; });
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t end = line.find(',');
    std::string_view cell = line.substr(0, end);
    cell.remove_prefix(std::min(cell.size(), cell.find_first_not_of(' ')));
    cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
    cells.emplace_back(cell);
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<TableCell> PrintedTable::read_csv(std::string_view line) {
  const std::vector<std::string> cells = csv_cells(line);
  if (cells.size() < 2) return {};
  const auto is_name = [](const std::string& cell) {
    return has_letter(cell) && cell.find_first_of(" =:") == std::string::npos &&
           !number_of_cell(cell);
  };
  if (std::ranges::all_of(cells, is_name)) {
    csv_header_ = cells;
    return {};
  }
  if (cells.size() != csv_header_.size()) return {};
  static const re2::RE2 k_date(R"((?:\d{4}-\d\d-\d\d.*)?)", re2::RE2::Quiet);
  std::vector<TableCell> row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool has_none = re2::RE2::FullMatch(cells[i], k_date);
    const auto number = has_none ? CellNumber{} : number_of_cell(cells[i]);
    if (!number) return {};
    // Data frames write whole numbers as `49.0`.
    const bool whole = number->whole || (number->value && std::fmod(*number->value, 1.0) == 0.0);
    row.push_back({csv_header_[i], number->value, whole, /*is_named=*/true});
  }
  return row;
}

std::vector<TableCell> PrintedTable::read(std::string_view line) {
  if (line.size() > k_longest_row) return {};
  if (auto row = read_csv(line); !row.empty()) return row;
  const std::vector<Cell> names = cells_of(line, /*splits_at_single_blanks=*/false);
  if (line.starts_with('|') && line.ends_with('|') && names.size() == 2 &&
      has_letter(names[0].text)) {
    const auto number = number_of_cell(names[1].text);
    if (number) return {{names[0].text, number->value, number->whole}};
  }
  const bool has_bars = line.starts_with('|') && line.ends_with('|');
  const std::vector<Cell> cells =
      has_bars ? names : cells_of(line, /*splits_at_single_blanks=*/true);
  std::vector<TableCell> row;
  for (const Cell& cell : cells) {
    const auto number = number_of_cell(cell.text);
    if (!number) break;
    row.push_back({"", number->value, number->whole});
  }
  const bool begins_with_digit =
      !cells.empty() && cells[0].text[0] >= '0' && cells[0].text[0] <= '9';
  const bool is_row =
      begins_with_digit && row.size() == cells.size() && row.size() >= k_least_columns;
  if (!is_row) {
    const auto is_name = [](const Cell& cell) { return has_letter(cell.text); };
    const bool is_header = names.size() >= k_least_columns && std::ranges::all_of(names, is_name);
    if (is_header) header_ = names;
    // `# step   loss   lr`
    if (is_header && names[0].text.starts_with("# ")) {
      header_[0].text.erase(0, 2);
      header_[0].at += 2;
    }
    return {};
  }
  name_cells(cells, row);
  return row;
}

void PrintedTable::name_cells(const std::vector<Cell>& cells, std::vector<TableCell>& row) const {
  // `#  step      loss` has a sign that is no column.
  const bool has_sign = header_.size() == row.size() + 1 && header_[0].text == "#";
  if (has_sign || header_.size() == row.size()) {
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i].name = header_[has_sign ? i + 1 : i].text;
    return;
  }
  // Some columns of the row are empty. Cells begin below their names.
  const auto name_at = [&](const Cell& cell) {
    return std::ranges::find(header_, cell.at, &Cell::at);
  };
  const bool begin_below_names =
      std::ranges::all_of(cells, [&](const Cell& cell) { return name_at(cell) != header_.end(); });
  if (!begin_below_names) return;
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i].name = name_at(cells[i])->text;
}

}  // namespace steptune
