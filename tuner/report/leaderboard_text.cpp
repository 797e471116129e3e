// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/configuration_column.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/scaling_report.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

/// Columns are dropped to keep the configuration at least this wide. If none can be dropped, the
/// configuration becomes narrower, down to `k_shortest_configuration`.
constexpr std::size_t k_narrowest_configuration = 24;

std::string marks(const LeaderboardRow& row) {
  std::string result;
  if (row.best) result += '*';
  if (row.tied) result += '=';
  if (row.pareto) result += 'p';
  if (row.disturbed) result += '!';
  return result;
}

std::vector<std::string> all_parameters(const Leaderboard& board) {
  if (board.rows.empty()) return parameter_order(board.study.document);
  std::vector<std::string> names = board.parameters;
  for (const auto& [name, value] : board.constant)
    names.push_back(name);
  return names;
}

TextTable table_of(const std::vector<LeaderboardColumn>& columns,
                   const std::vector<LeaderboardRow>& rows) {
  std::vector<TextTable::Column> titles{{"", Align::left}};
  for (const LeaderboardColumn& column : columns)
    titles.push_back({column.title, column.align});
  TextTable table(std::move(titles));
  for (const LeaderboardRow& row : rows) {
    std::vector<std::string> cells{marks(row)};
    for (const LeaderboardColumn& column : columns)
      cells.push_back(column.text(row));
    table.add_row(std::move(cells));
  }
  return table;
}

/// Makes a column of at most `width` with the parameters that differ.
LeaderboardColumn configuration_column(const Leaderboard& board, std::size_t width) {
  std::vector<Configuration> rows;
  for (const LeaderboardRow& row : board.rows)
    rows.push_back(row.trial.configuration);
  LeaderboardColumn column;
  column.title = "configuration";
  column.align = Align::left;
  column.importance = k_never_dropped;
  column.text = [shown = ConfigurationColumn(rows, board.parameters, width)](
                    const LeaderboardRow& row) { return shown.text(row.trial.configuration); };
  return column;
}

/// Columns and their table, whose first column has the marks. Dropping columns does not make the
/// cells again.
struct ShownTable {
  std::vector<LeaderboardColumn> columns;
  TextTable table;

  void drop(std::vector<LeaderboardColumn>::iterator column) {
    table.drop_column(1 + static_cast<std::size_t>(column - columns.begin()));
    columns.erase(column);
  }
  void drop_parameters() {
    const auto is_parameter = [](const LeaderboardColumn& column) { return column.is_parameter; };
    for (auto next = std::ranges::find_if(columns, is_parameter); next != columns.end();
         next = std::ranges::find_if(columns, is_parameter)) {
      drop(next);
    }
  }
};

/// Drops the least important columns until the table fits. Stops if only parameters and columns
/// that are more important than parameters are left.
void drop_columns(ShownTable& shown, std::size_t width) {
  const auto order = [](const LeaderboardColumn& column) {
    return column.is_parameter ? k_never_dropped : column.importance;
  };
  while (shown.table.width() > width) {
    const auto least = std::ranges::min_element(shown.columns, {}, order);
    if (least == shown.columns.end() || order(*least) > k_parameter_importance) return;
    shown.drop(least);
  }
}

/// Returns a table that fits `width`. Each parameter has its own column if no column that is more
/// important must be dropped for it. Otherwise the parameters share one column, which gets the
/// remaining width.
TextTable narrow_table(std::vector<LeaderboardColumn> columns, const Leaderboard& board,
                       std::size_t width) {
  for (LeaderboardColumn& column : columns) {
    if (column.is_status) column.text = brief_status;
  }
  TextTable table = table_of(columns, board.rows);
  ShownTable together{std::move(columns), std::move(table)};
  ShownTable apart = together;
  drop_columns(apart, width);
  if (apart.table.width() <= width) return std::move(apart.table);
  together.drop_parameters();
  const auto room = [&] {
    const std::size_t taken = together.table.width() + TextTable::k_gap;
    return width > taken ? width - taken : std::size_t{0};
  };
  std::size_t left = room();
  while (left < k_narrowest_configuration) {
    const auto least =
        std::ranges::min_element(together.columns, {}, &LeaderboardColumn::importance);
    if (least == together.columns.end() || least->importance >= k_never_dropped) break;
    together.drop(least);
    left = room();
  }
  if (board.parameters.empty()) return std::move(together.table);
  together.columns.push_back(configuration_column(board, std::max(k_shortest_configuration, left)));
  return table_of(together.columns, board.rows);
}

std::vector<LeaderboardColumn> shown_columns(const Leaderboard& board,
                                             const std::vector<std::string>& names) {
  std::vector<LeaderboardColumn> all =
      leaderboard_columns(board, names.empty() ? board.parameters : all_parameters(board));
  if (names.empty()) {
    std::erase_if(all, [](const LeaderboardColumn& column) { return !column.is_default; });
    return all;
  }
  std::vector<LeaderboardColumn> shown;
  for (const std::string& name : names) {
    if (auto column = column_named(all, name)) shown.push_back(*std::move(column));
  }
  return shown;
}

/// Spreadsheets evaluate texts that start with these characters (OWASP, "CSV Injection").
constexpr std::string_view k_formula_signs = "=+-@\t\r";

std::string csv_cell(const std::optional<Value>& value) {
  if (!value) return {};
  std::string text = printable_lines(to_text(*value));
  const bool is_text = std::holds_alternative<std::string>(*value);
  if (is_text && !text.empty() && k_formula_signs.find(text.front()) != std::string_view::npos) {
    text.insert(0, "'");
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Colours whole lines, so that column widths stay the same.
std::string with_colors(const std::string& text, const Leaderboard& board) {
  std::string result;
  std::size_t line = 0;
  for (const std::string_view content : split_lines(text)) {
    const LeaderboardRow* row =
        line >= 1 && line <= board.rows.size() ? &board.rows[line - 1] : nullptr;
    const char* color = nullptr;
    if (line == 0) color = "\x1b[2m";
    if (row != nullptr && row->best) color = "\x1b[1;32m";
    if (row != nullptr && row->tied) color = "\x1b[32m";
    if (row != nullptr && !is_ranked(row->trial.status)) color = "\x1b[2m";
    result += color == nullptr ? fmt::format("{}\n", content)
                               : fmt::format("{}{}\x1b[0m\n", color, content);
    ++line;
  }
  return result;
}

std::string legend(const Leaderboard& board, std::size_t width) {
  const auto any = [&](auto member) {
    return std::any_of(board.rows.begin(), board.rows.end(),
                       [&](const auto& row) { return row.*member; });
  };
  std::string result;
  std::size_t in_line = 0;
  const auto add = [&](bool used, std::string_view text) {
    if (!used) return;
    constexpr std::string_view k_gap = "   ";
    const bool fits = width == 0 || in_line + k_gap.size() + text.size() <= width;
    const std::string_view before = in_line == 0 ? "" : fits ? k_gap : "\n";
    in_line = (fits ? in_line + before.size() : 0) + text.size();
    result.append(before).append(text);
  };
  add(any(&LeaderboardRow::best), "* best");
  add(any(&LeaderboardRow::tied), "= tied with the best (no measurable difference)");
  add(any(&LeaderboardRow::pareto), "p on the Pareto front");
  add(any(&LeaderboardRow::disturbed), "! disturbed by other load");
  return result.empty() ? result : result + "\n";
}

/// Returns the number of machines beyond which more machines do not pay off (the knee). If there is
/// a deadline, also returns the cheapest number of machines that meets it.
std::string scaling_lines(const StudyScaling& study, std::size_t width) {
  const ScalingWords words = in_words(study);
  std::string lines;
  if (!words.knee.empty()) lines += wrapped_entry("knee: " + words.knee, width, 6);
  // Without a deadline, the cheapest count is usually the least count.
  if (study.scaling.question.deadline_s) {
    lines += wrapped_entry("cheapest: " + words.choice, width, 10);
  }
  return lines;
}

}  // namespace

std::string leaderboard_csv(const Leaderboard& board, const std::vector<std::string>& names) {
  std::vector<LeaderboardColumn> columns = names.empty()
                                               ? leaderboard_columns(board, all_parameters(board))
                                               : shown_columns(board, names);
  std::string text;
  const auto add_line = [&](auto cell_of) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += (i == 0 ? "" : ",") + cell_of(columns[i]);
    text += "\r\n";
  };
  add_line([](const LeaderboardColumn& column) { return csv_cell(Value(column.name)); });
  for (const LeaderboardRow& row : board.rows) {
    add_line([&](const LeaderboardColumn& column) { return csv_cell(column.value(row)); });
  }
  return text;
}

std::string leaderboard_text(const Leaderboard& board, const TextStyle& style) {
  std::string result;
  if (board.rows.empty()) {
    if (!board.counts.empty()) result = "no trial to show\n";
  } else {
    const std::vector<LeaderboardColumn> columns = shown_columns(board, style.columns);
    TextTable table = table_of(columns, board.rows);
    if (style.width > 0 && table.width() > style.width && style.columns.empty()) {
      table = narrow_table(columns, board, style.width);
    }
    result = style.color ? with_colors(table.text(), board) : table.text();
    result += legend(board, style.width);
  }
  if (!board.constant.empty() && !board.rows.empty()) {
    Configuration constant;
    for (const auto& [name, value] : board.constant)
      constant.set(name, value);
    result += wrapped_entry(
        "same in all: " + configuration_text(constant, parameter_order(board.study.document)),
        style.width, 13);
  }
  for (const std::string& note : texts_of(board.notes))
    result += wrapped_entry("note: " + note, style.width, 6);
  if (board.scaling) result += scaling_lines(*board.scaling, style.width);
  result += wrapped(counts_text(board.counts), style.width);
  return result;
}

}  // namespace steptune
