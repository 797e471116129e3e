// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_narrowest_configuration = 16;

std::string marks(const LeaderboardRow& row) {
  std::string result;
  if (row.best) result += '*';
  if (row.tied) result += '=';
  if (row.pareto) result += 'p';
  if (row.disturbed) result += '!';
  return result;
}

std::string status_cell(const TrialRecord& trial) {
  std::string text = trial.purpose == TrialPurpose::search
                         ? to_text(trial.status)
                         : fmt::format("{}, {}", to_text(trial.purpose), to_text(trial.status));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::vector<TextTable::Column> fixed_columns(const Leaderboard& board) {
  std::vector<TextTable::Column> columns{{"", Align::left}, {"trial", Align::right}};
  for (const ObjectiveView& view : board.objectives) {
    columns.push_back({view.title(), Align::right});
    columns.push_back({"+-", Align::right});
    columns.push_back({"gain", Align::right});
  }
  columns.push_back({"samples/s", Align::right});
  columns.push_back({"status", Align::left});
  return columns;
}

std::string interval_text(const TrialRecord& trial, std::size_t objective) {
  const double half_width = half_width_95(trial, objective);
  const double value = std::abs(trial.objectives[objective]);
  if (half_width <= 0.0) return {};
  return value > 0.0 ? format_percent(half_width / value) : format_number(half_width);
}

std::vector<std::string> fixed_cells(const Leaderboard& board, const LeaderboardRow& row) {
  const TrialRecord& trial = row.trial;
  std::vector<std::string> cells{marks(row), std::to_string(trial.number)};
  for (std::size_t i = 0; i < board.objectives.size(); ++i) {
    const bool known = i < trial.objectives.size();
    cells.push_back(known ? board.objectives[i].text(trial.objectives[i]) : "-");
    cells.push_back(known ? interval_text(trial, i) : "");
    cells.push_back(std::isfinite(row.gains[i]) ? format_ratio(row.gains[i]) : "");
  }
  cells.push_back(trial.measurement && trial.measurement->seconds_per_sample > 0.0
                      ? format_number(1.0 / trial.measurement->seconds_per_sample)
                      : "");
  cells.push_back(status_cell(trial));
  return cells;
}

std::string parameter_cell(const Configuration& configuration, const std::string& name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? "-" : printable_line(to_text(*value), 60);
}

Align alignment(const Leaderboard& board, const std::string& name) {
  const bool textual = std::any_of(board.rows.begin(), board.rows.end(), [&](const auto& row) {
    const Value* value = row.trial.configuration.find(name);
    return value != nullptr &&
           (std::holds_alternative<std::string>(*value) || std::holds_alternative<bool>(*value));
  });
  return textual ? Align::left : Align::right;
}

TextTable wide_table(const Leaderboard& board) {
  std::vector<TextTable::Column> columns = fixed_columns(board);
  for (const std::string& name : board.parameters)
    columns.push_back({name, alignment(board, name)});
  TextTable table(std::move(columns));
  for (const LeaderboardRow& row : board.rows) {
    std::vector<std::string> cells = fixed_cells(board, row);
    for (const std::string& name : board.parameters) {
      cells.push_back(parameter_cell(row.trial.configuration, name));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

TextTable narrow_table(const Leaderboard& board, std::size_t width) {
  TextTable fixed(fixed_columns(board));
  for (const LeaderboardRow& row : board.rows)
    fixed.add_row(fixed_cells(board, row));
  const std::size_t taken = fixed.width() + 2;
  const std::size_t room =
      std::max(k_narrowest_configuration, width > taken ? width - taken : std::size_t{0});
  std::vector<TextTable::Column> columns = fixed_columns(board);
  columns.push_back({"configuration", Align::left});
  TextTable table(std::move(columns));
  for (const LeaderboardRow& row : board.rows) {
    Configuration varying;
    for (const std::string& name : board.parameters) {
      if (const Value* value = row.trial.configuration.find(name)) varying.set(name, *value);
    }
    std::vector<std::string> cells = fixed_cells(board, row);
    cells.push_back(elide_middle(configuration_text(varying, board.parameters), room));
    table.add_row(std::move(cells));
  }
  return table;
}

/// Colours whole lines, so that column widths stay what they are.
std::string with_colors(const std::string& text, const Leaderboard& board) {
  std::string result;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    const std::string content = text.substr(begin, end - begin);
    const LeaderboardRow* row =
        line >= 1 && line <= board.rows.size() ? &board.rows[line - 1] : nullptr;
    const char* color = nullptr;
    if (line == 0) color = "\x1b[2m";
    if (row != nullptr && row->best) color = "\x1b[1;32m";
    if (row != nullptr && row->tied) color = "\x1b[32m";
    if (row != nullptr && !is_ranked(row->trial.status)) color = "\x1b[2m";
    result += color == nullptr ? content + "\n" : fmt::format("{}{}\x1b[0m\n", color, content);
    begin = end + 1;
  }
  return result;
}

std::string legend(const Leaderboard& board) {
  const auto any = [&](auto member) {
    return std::any_of(board.rows.begin(), board.rows.end(),
                       [&](const auto& row) { return row.*member; });
  };
  std::string result;
  const auto add = [&](bool used, const char* text) {
    if (used) result += fmt::format("{}{}", result.empty() ? "" : "   ", text);
  };
  add(any(&LeaderboardRow::best), "* best");
  add(any(&LeaderboardRow::tied), "= tied with the best (not told apart)");
  add(any(&LeaderboardRow::pareto), "p on the Pareto front");
  add(any(&LeaderboardRow::disturbed), "! disturbed by other load");
  return result.empty() ? result : result + "\n";
}

}  // namespace

std::string leaderboard_text(const Leaderboard& board, const TextStyle& style) {
  std::string result;
  if (!board.rows.empty()) {
    TextTable table = wide_table(board);
    if (style.width > 0 && table.width() > style.width && !board.parameters.empty()) {
      table = narrow_table(board, style.width);
    }
    result = style.color ? with_colors(table.text(), board) : table.text();
    result += legend(board);
  }
  if (!board.constant.empty() && !board.rows.empty()) {
    Configuration constant;
    for (const auto& [name, value] : board.constant)
      constant.set(name, value);
    result += fmt::format("same in all: {}\n",
                          configuration_text(constant, parameter_order(board.study.document)));
  }
  for (const std::string& note : board.notes)
    result += fmt::format("note: {}\n", note);
  result += counts_text(board.counts) + "\n";
  return result;
}

}  // namespace steptune
