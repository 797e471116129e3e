// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard_columns.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

std::optional<Value> finite_value(double number) {
  return std::isfinite(number) ? std::optional<Value>(number) : std::nullopt;
}

std::string status_cell(const LeaderboardRow& row) {
  const TrialRecord& trial = row.trial;
  return with_blanks(trial.purpose == TrialPurpose::search
                         ? to_text(trial.status)
                         : fmt::format("{}, {}", to_text(trial.purpose), to_text(trial.status)));
}

std::string interval_text(const TrialRecord& trial, std::size_t objective) {
  if (objective >= trial.objectives.size()) return {};
  const double half_width = half_width_95(trial, objective);
  const double value = std::abs(trial.objectives[objective]);
  if (half_width <= 0.0) return {};
  return value > 0.0 ? format_percent(half_width / value) : format_number(half_width);
}

using NumberOfRow = std::function<std::optional<double>(const LeaderboardRow&)>;

/// Makes a column of numbers in SI units, which only some rows have.
LeaderboardColumn number_column(std::string name, std::string title, int importance,
                                NumberOfRow number,
                                std::function<std::string(double)> text = format_number) {
  LeaderboardColumn column;
  column.name = std::move(name);
  column.title = std::move(title);
  column.importance = importance;
  column.text = [number, text = std::move(text)](const LeaderboardRow& row) {
    const auto value = number(row);
    return value && std::isfinite(*value) ? text(*value) : std::string();
  };
  column.value = [number = std::move(number)](const LeaderboardRow& row) {
    const auto value = number(row);
    return value ? finite_value(*value) : std::nullopt;
  };
  return column;
}

LeaderboardColumn text_column(std::string name, std::string title, int importance,
                              std::function<std::string(const LeaderboardRow&)> text) {
  LeaderboardColumn column;
  column.name = std::move(name);
  column.title = std::move(title);
  column.align = Align::left;
  column.importance = importance;
  column.value = [text](const LeaderboardRow& row) { return std::optional<Value>(text(row)); };
  column.text = std::move(text);
  return column;
}

/// Makes a column of texts of any length. A table shows the first `shown` bytes of a text.
LeaderboardColumn long_text_column(const std::string& name, std::size_t shown,
                                   std::string TrialRecord::*member) {
  LeaderboardColumn column = text_column(name, name, 1, [member](const LeaderboardRow& row) {
    return printable_line(row.trial.*member, k_any_length);
  });
  column.text = [member, shown](const LeaderboardRow& row) {
    return printable_line(row.trial.*member, shown);
  };
  return column;
}

/// Makes the status column. The column is never dropped if rows are unranked, because it
/// distinguishes failed, running and confirming trials.
LeaderboardColumn status_column(const std::vector<LeaderboardRow>& rows) {
  const bool has_unranked = std::ranges::any_of(rows, [](const LeaderboardRow& row) {
    return !is_ranked(row.trial.status) || !is_compared(row.trial.purpose);
  });
  LeaderboardColumn column =
      text_column("status", "status", has_unranked ? k_never_dropped : 4, status_cell);
  column.is_status = true;
  return column;
}

void add_objective(std::vector<LeaderboardColumn>& columns, const ObjectiveView& view,
                   std::size_t i) {
  const bool first = i == 0;
  const std::string& name = view.objective.metric;
  LeaderboardColumn value = number_column(name, view.title(), k_never_dropped,
                                          [i](const LeaderboardRow& row) -> std::optional<double> {
                                            const auto& values = row.trial.objectives;
                                            if (i >= values.size()) return std::nullopt;
                                            return values[i];
                                          });
  value.is_objective = true;
  value.larger_is_first = view.objective.direction == Direction::maximize;
  value.text = [&view, i](const LeaderboardRow& row) {
    const auto& values = row.trial.objectives;
    return i < values.size() ? view.text(values[i]) : std::string("-");
  };
  columns.push_back(std::move(value));
  LeaderboardColumn interval =
      number_column(name + "_interval", "+-", first ? 5 : 2,
                    [i](const LeaderboardRow& row) -> std::optional<double> {
                      const double half_width = half_width_95(row.trial, i);
                      return half_width > 0.0 ? std::optional(half_width) : std::nullopt;
                    });
  interval.text = [i](const LeaderboardRow& row) { return interval_text(row.trial, i); };
  columns.push_back(std::move(interval));
  columns.push_back(number_column(
      name + "_gain", "gain", first ? k_never_dropped : 3,
      [i](const LeaderboardRow& row) { return std::optional(row.gains[i]); }, format_ratio));
  columns.back().larger_is_first = true;
}

/// Adds the columns that are shown only on request.
void add_further(std::vector<LeaderboardColumn>& columns, const Leaderboard& board) {
  const auto measured = [](double Measurement::*member) -> NumberOfRow {
    return [member](const LeaderboardRow& row) -> std::optional<double> {
      if (!row.trial.measurement) return std::nullopt;
      return (*row.trial.measurement).*member;
    };
  };
  const auto add = [&columns](const char* name, const char* title, NumberOfRow number,
                              std::string (*text)(double)) {
    columns.push_back(number_column(name, title, 1, std::move(number), text));
  };
  const std::size_t begin = columns.size();
  columns.push_back(text_column("purpose", "purpose", 1, [](const LeaderboardRow& row) {
    return to_text(row.trial.purpose);
  }));
  columns.push_back(long_text_column("origin", 40, &TrialRecord::origin));
  columns.push_back(long_text_column("failure", 60, &TrialRecord::failure));
  add("startup_s", "start-up", measured(&Measurement::startup_s), format_duration);
  add("warmup_s", "warm-up", measured(&Measurement::warmup_s), format_duration);
  add("window_s", "window", measured(&Measurement::window_s), format_duration);
  add(
      "peak_memory_bytes", "memory",
      [](const LeaderboardRow& row) { return row.trial.peak_memory_bytes; }, format_bytes);
  add(
      "gpu_memory_bytes", "GPU memory",
      [](const LeaderboardRow& row) {
        const auto& gpu = row.trial.gpu;
        return gpu ? std::optional(gpu->peak_memory_bytes) : std::nullopt;
      },
      format_bytes);
  add(
      "spent_s", "spent",
      [](const LeaderboardRow& row) { return std::optional(row.trial.spent_s); }, format_duration);
  add(
      "spent_usd", "bill",
      [](const LeaderboardRow& row) { return std::optional(row.trial.spent_usd); }, format_usd);
  if (board.machine_hours)
    add("machine_hours", "machine-hours", &LeaderboardRow::machine_hours, format_number);
  for (std::size_t i = begin; i < columns.size(); ++i)
    columns[i].is_default = false;
}

LeaderboardColumn parameter_column(const std::string& name,
                                   const std::vector<LeaderboardRow>& rows) {
  LeaderboardColumn column;
  column.name = name;
  column.title = name;
  column.is_parameter = true;
  column.importance = k_parameter_importance;
  const bool textual = std::ranges::any_of(rows, [&](const LeaderboardRow& row) {
    const Value* value = row.trial.configuration.find(name);
    return value != nullptr &&
           (std::holds_alternative<std::string>(*value) || std::holds_alternative<bool>(*value));
  });
  column.align = textual ? Align::left : Align::right;
  column.text = [name](const LeaderboardRow& row) {
    return value_or_dash(row.trial.configuration, name);
  };
  column.value = [name](const LeaderboardRow& row) {
    const Value* value = row.trial.configuration.find(name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  return column;
}

/// Renames columns that have the same name as an objective. The objective keeps its name.
void distinguish_from_objectives(std::vector<LeaderboardColumn>& columns,
                                 const std::vector<ObjectiveView>& objectives) {
  std::set<std::string> kept;
  for (const ObjectiveView& view : objectives)
    kept.insert(view.objective.metric);
  for (LeaderboardColumn& column : columns)
    if (!column.is_objective && kept.contains(column.name)) column.name.insert(0, "trial.");
}

/// True if `a` comes before `b`. Numbers come before texts; each kind has its usual order.
bool is_before(const Value& a, const Value& b, bool larger_is_first) {
  const bool a_is_text = std::holds_alternative<std::string>(a);
  const bool b_is_text = std::holds_alternative<std::string>(b);
  if (a_is_text != b_is_text) return b_is_text;
  if (a_is_text) return std::get<std::string>(a) < std::get<std::string>(b);
  return larger_is_first ? to_number(a) > to_number(b) : to_number(a) < to_number(b);
}

}  // namespace

std::vector<LeaderboardColumn> leaderboard_columns(const Leaderboard& board,
                                                   const std::vector<std::string>& parameters) {
  std::vector<LeaderboardColumn> columns;
  columns.push_back(number_column("trial", "trial", k_never_dropped, [](const LeaderboardRow& row) {
    return std::optional(static_cast<double>(row.trial.number));
  }));
  columns.back().text = [](const LeaderboardRow& row) { return std::to_string(row.trial.number); };
  columns.back().value = [](const LeaderboardRow& row) {
    return std::optional<Value>(row.trial.number);
  };
  for (std::size_t i = 0; i < board.objectives.size(); ++i)
    add_objective(columns, board.objectives[i], i);
  columns.push_back(number_column("samples_per_s", unit_of(board.objectives).per_second(), 1,
                                  [](const LeaderboardRow& row) -> std::optional<double> {
                                    if (!row.trial.measurement) return std::nullopt;
                                    const double s = row.trial.measurement->seconds_per_sample;
                                    return s > 0.0 ? std::optional(1.0 / s) : std::nullopt;
                                  }));
  columns.back().larger_is_first = true;
  if (std::ranges::any_of(board.rows, [](const auto& row) { return row.efficiency.has_value(); })) {
    columns.push_back(
        number_column("efficiency", "efficiency", 3, &LeaderboardRow::efficiency, format_percent));
    columns.back().larger_is_first = true;
  }
  columns.push_back(status_column(board.rows));
  add_further(columns, board);
  distinguish_from_objectives(columns, board.objectives);
  std::set<std::string> taken;
  for (const LeaderboardColumn& column : columns)
    taken.insert(column.name);
  for (const std::string& name : parameters) {
    columns.push_back(parameter_column(name, board.rows));
    if (taken.contains(name)) columns.back().name = "parameter." + name;
  }
  for (const std::string& name : board.metrics) {
    columns.push_back(number_column("metric." + name, printable_line(name, 30), 1,
                                    [name](const LeaderboardRow& row) -> std::optional<double> {
                                      if (!row.trial.measurement) return std::nullopt;
                                      const auto& metrics = row.trial.measurement->metrics;
                                      const auto found = metrics.find(name);
                                      if (found == metrics.end()) return std::nullopt;
                                      return found->second;
                                    }));
    columns.back().is_default = false;
  }
  return columns;
}

std::string brief_status(const LeaderboardRow& row) {
  const TrialRecord& trial = row.trial;
  std::string status = to_text(trial.status);
  if (trial.purpose != TrialPurpose::search) {
    const std::string purpose = to_text(trial.purpose);
    status = trial.status == TrialStatus::completed
                 ? purpose
                 : fmt::format("{}, {}", purpose.substr(0, purpose.find('_')), status);
  }
  return with_blanks(std::move(status));
}

Result<LeaderboardColumn> column_named(const std::vector<LeaderboardColumn>& columns,
                                       const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const LeaderboardColumn& column : columns) {
    if (column.name == name) return column;
    names.push_back(column.name);
    list += (list.empty() ? "" : ", ") + printable_line(column.name);
  }
  const auto titled = std::ranges::find(columns, name, &LeaderboardColumn::title);
  if (titled != columns.end()) return *titled;
  return fail(ErrorKind::usage,
              fmt::format("the leaderboard has no column \"{}\"{}", printable_line(name),
                          did_you_mean(name, names)),
              "", "its columns: " + list);
}

void sort_rows(std::vector<LeaderboardRow>& rows, const LeaderboardColumn& column) {
  std::ranges::stable_sort(rows, [&](const LeaderboardRow& a, const LeaderboardRow& b) {
    const auto of_a = column.value(a);
    const auto of_b = column.value(b);
    if (!of_a || !of_b) return of_a.has_value() && !of_b.has_value();
    return is_before(*of_a, *of_b, column.larger_is_first);
  });
}

}  // namespace steptune
