// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/study_import.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/report/audit.hpp"

namespace steptune {
namespace {

const Json* first_cell(const ForeignTrial& trial, const std::vector<std::string>& names) {
  for (const std::string& each : names) {
    const auto cell = trial.cells.find(each);
    if (cell != trial.cells.end() && !cell->second.is_null()) return &cell->second;
  }
  return nullptr;
}

std::string column_of(const std::string& name, const ImportColumns& columns) {
  const auto given = columns.find(name);
  return given == columns.end() ? name : given->second;
}

/// Finds a parameter's cell by the column names that other programs use. Tries prefixed names
/// first, because a metric may have the same name as the parameter.
const Json* parameter_cell(const ForeignTrial& trial, const std::string& name,
                           const ImportColumns& columns) {
  const std::string column = column_of(name, columns);
  return first_cell(trial, {"params_" + column, "config/" + column, "config_" + column, column});
}

const Json* objective_cell(const ForeignTrial& trial, const std::string& metric,
                           const ImportColumns& columns) {
  return first_cell(trial, {column_of(metric, columns)});
}

std::optional<double> number_in(const Json& cell) {
  if (cell.is_number()) {
    const auto number = cell.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  return cell.is_string() ? parse_finite(cell.get<std::string>()) : std::nullopt;
}

/// Returns the cell as a value of the parameter; nullopt if the parameter has no such value.
std::optional<Value> value_in(const Json& cell, const Parameter& parameter) {
  const std::string text = plain_text(cell);
  switch (parameter.kind) {
    case ParameterKind::boolean:
      if (text == "true" || text == "True" || text == "1") return Value(true);
      if (text == "false" || text == "False" || text == "0") return Value(false);
      return std::nullopt;
    case ParameterKind::integer: {
      const auto number = number_in(cell);
      if (!number || std::floor(*number) != *number || std::abs(*number) > 1e15) return {};
      return Value(static_cast<std::int64_t>(*number));
    }
    case ParameterKind::floating:
      if (const auto number = number_in(cell)) return Value(*number);
      return std::nullopt;
    case ParameterKind::categorical:
    case ParameterKind::ordinal:
      break;
  }
  const auto number = number_in(cell);
  for (const Value& choice : parameter.choices) {
    if (to_text(choice) == text) return choice;
    const auto* truth = std::get_if<bool>(&choice);
    if (truth != nullptr && text == (*truth ? "True" : "False")) return choice;
    const bool is_number = !std::holds_alternative<std::string>(choice);
    if (is_number && number && to_number(choice) == *number) return choice;
  }
  return std::nullopt;
}

/// Adds the column of each objective in Optuna's file. Optuna names these columns by position.
/// Does not change columns that the user gave.
ImportColumns with_objectives(const ForeignTrials& foreign, const StudySpec& study,
                              ImportColumns columns) {
  const std::size_t count = study.objectives.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& metric = study.objectives[i].metric;
    if (columns.contains(metric)) continue;
    if (foreign.kind == "Optuna") columns[metric] = i == 0 ? "value" : fmt::format("value_{}", i);
    if (foreign.kind == "Optuna's table") {
      columns[metric] = count == 1 ? "value" : fmt::format("values_{}", i);
    }
  }
  return columns;
}

/// Returns `usage` if an objective's direction in Optuna's file differs from the study's. In such a
/// case the file's worst trial would look like the best.
Result<void> check_directions(const ForeignTrials& foreign, const StudySpec& study,
                              const ImportColumns& columns) {
  for (const Objective& objective : study.objectives) {
    for (std::size_t i = 0; i < foreign.directions.size(); ++i) {
      const std::string column = i == 0 ? "value" : fmt::format("value_{}", i);
      if (column_of(objective.metric, columns) != column) continue;
      if (foreign.directions[i] == objective.direction) continue;
      const bool is_maximized = foreign.directions[i] == Direction::maximize;
      return fail(ErrorKind::usage,
                  fmt::format("Optuna's objective {} is {}, but the study's \"{}\" is not", i + 1,
                              is_maximized ? "maximized" : "minimized", objective.metric),
                  "", "export its trials as CSV with a column that has the study's meaning");
    }
  }
  return {};
}

/// Returns the names of parameters and objectives for which at least one trial has a cell.
std::set<std::string> reported_names(const ForeignTrials& foreign, const StudySpec& study,
                                     const ImportColumns& columns) {
  std::set<std::string> reported;
  for (const ForeignTrial& trial : foreign.trials) {
    for (const Parameter& parameter : study.space.parameters()) {
      if (parameter_cell(trial, parameter.name, columns) != nullptr)
        reported.insert(parameter.name);
    }
    for (const Objective& objective : study.objectives) {
      if (objective_cell(trial, objective.metric, columns) != nullptr) {
        reported.insert(objective.metric);
      }
    }
  }
  return reported;
}

/// Returns warnings if the name of the `time` column suggests times per step or times since a trial
/// began. Times per step are a problem only if a batch parameter varies.
std::vector<std::string> time_notes(const std::string& column,
                                    const std::vector<TrialRecord>& trials) {
  std::vector<std::string> notes;
  const auto has = [&column](const char* word) { return column.find(word) != std::string::npos; };
  std::map<std::string, std::set<std::string>> batches;
  for (const TrialRecord& trial : trials) {
    for (const auto& [name, value] : trial.configuration.values())
      if (name.find("batch") != std::string::npos) batches[name].insert(to_text(value));
  }
  for (const auto& [name, values] : batches) {
    if (values.size() < 2 || !(has("step") || has("iter") || has("batch"))) continue;
    notes.push_back(fmt::format(
        "\"{}\" varies: is \"{}\" seconds per sample? A step of another batch cannot be compared",
        name, printable_line(column)));
  }
  if (has("total") || has("elapsed") || column == "st_tuner_time" || column == "timestamp") {
    notes.push_back(fmt::format(
        "\"{}\" looks like the time since a trial began: trials that were stopped early seem fast",
        printable_line(column)));
  }
  return notes;
}

/// Removes inactive parameters, because tables may have values for them, too. Returns the active
/// parameters.
std::set<std::string> keep_active(const SearchSpace& space, Configuration& configuration) {
  const Configuration decoded = space.decode(space.encode(configuration));
  std::set<std::string> active;
  for (const Parameter& parameter : space.parameters()) {
    if (decoded.contains(parameter.name)) {
      active.insert(parameter.name);
    } else {
      configuration.erase(parameter.name);
    }
  }
  return active;
}

/// Configuration of a row. Parameters without a cell (`without_cell`) have the baseline's value.
struct RowConfiguration {
  Configuration values;
  std::vector<std::string> without_cell;
};

/// Returns the row's configuration. If the row must be left out, returns the reason.
tl::expected<RowConfiguration, std::string> configuration_of(const ForeignTrial& row,
                                                             const StudySpec& study,
                                                             const ImportColumns& columns) {
  RowConfiguration configuration;
  for (const Parameter& parameter : study.space.parameters()) {
    const Json* cell = parameter_cell(row, parameter.name, columns);
    if (cell == nullptr) {
      const Value* today = study.baseline.find(parameter.name);
      if (today != nullptr) configuration.values.set(parameter.name, *today);
      configuration.without_cell.push_back(parameter.name);
      continue;
    }
    const auto value = value_in(*cell, parameter);
    if (!value || std::isnan(parameter.position_of(*value))) {
      return tl::unexpected(fmt::format("\"{}\" is not in the study's space", parameter.name));
    }
    configuration.values.set(parameter.name, *value);
  }
  return configuration;
}

/// Converts a row to a trial of the study, but does not set the trial's number. If the row must be
/// left out, returns the reason. `reported`: result of `reported_names()`.
tl::expected<TrialRecord, std::string> trial_of(const ForeignTrial& row, const StudySpec& study,
                                                const ImportColumns& columns,
                                                const std::set<std::string>& reported) {
  if (!row.why_left_out.empty()) return tl::unexpected(row.why_left_out);
  auto configuration = configuration_of(row, study, columns);
  if (!configuration) return tl::unexpected(configuration.error());
  TrialRecord trial;
  trial.configuration = std::move(configuration->values);
  for (const Objective& objective : study.objectives) {
    const Json* cell = objective_cell(row, objective.metric, columns);
    const auto value = cell == nullptr ? std::nullopt : number_in(*cell);
    // Tables may mark a failed run by a time of 0 or -1. Ignore such a time, because it would be
    // the best of all.
    const bool is_possible = value && (*value > 0.0 || !objective.is_timed());
    if (is_possible) trial.objectives.push_back(*value);
  }
  if (row.failed) {
    trial.objectives.clear();
  } else if (trial.objectives.size() != study.objectives.size()) {
    return tl::unexpected(std::string("without a value of every objective"));
  }
  const std::set<std::string> active = keep_active(study.space, trial.configuration);
  for (const std::string& name : configuration->without_cell) {
    // Only active parameters need a value: tables may leave the cells of inactive parameters empty.
    if (reported.contains(name) && active.contains(name)) {
      return tl::unexpected(fmt::format("no value of \"{}\"", name));
    }
  }
  if (!study.space.contains(trial.configuration)) {
    return tl::unexpected(std::string("not in the study's space, or against its constraints"));
  }
  trial.origin = k_import_origin;
  trial.status = row.failed ? TrialStatus::failed : TrialStatus::completed;
  // The table does not show how uncertain the values are, so the errors are infinite.
  trial.standard_errors.assign(trial.objectives.size(), k_infinity);
  return trial;
}

/// Checks that each given column exists and each objective has a column.
Result<void> check_names(const std::set<std::string>& reported, const StudySpec& study,
                         const ImportColumns& given) {
  for (const auto& [name, column] : given) {
    if (!reported.contains(name)) {
      return fail(ErrorKind::usage, fmt::format("no column \"{}\" for \"{}\"",
                                                printable_line(column), printable_line(name)));
    }
  }
  for (const Objective& objective : study.objectives) {
    if (reported.contains(objective.metric)) continue;
    return fail(ErrorKind::usage, fmt::format("no column has \"{}\"", objective.metric), "",
                fmt::format("--column {}=COLUMN", objective.metric));
  }
  return {};
}

/// Returns notes about the columns, for the user.
std::vector<std::string> column_notes(const std::set<std::string>& reported, const StudySpec& study,
                                      const ImportColumns& columns,
                                      const std::vector<TrialRecord>& trials) {
  std::vector<std::string> notes;
  for (const Parameter& parameter : study.space.parameters()) {
    if (reported.contains(parameter.name)) continue;
    notes.push_back(
        fmt::format("no column has \"{}\": all trials get the baseline's value", parameter.name));
  }
  for (const Objective& objective : study.objectives) {
    if (!objective.is_time()) continue;
    for (std::string& note : time_notes(column_of("time", columns), trials))
      notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace

Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                const StudySpec& study,
                                                const ImportColumns& given) {
  const ImportColumns columns = with_objectives(foreign, study, given);
  if (auto same = check_directions(foreign, study, columns); !same) {
    return tl::unexpected(same.error());
  }
  const std::set<std::string> reported = reported_names(foreign, study, columns);
  if (auto complete = check_names(reported, study, given); !complete) {
    return tl::unexpected(complete.error());
  }
  ImportedTrials imported;
  for (const ForeignTrial& row : foreign.trials) {
    auto trial = trial_of(row, study, columns, reported);
    if (!trial) {
      ++imported.left_out[trial.error()];
      continue;
    }
    trial->number = static_cast<std::int64_t>(imported.trials.size()) + 1;
    if (row.failed) trial->failure = fmt::format("failed in {}", foreign.kind);
    imported.trials.push_back(*std::move(trial));
  }
  if (imported.trials.empty()) {
    std::string reasons;
    for (const auto& [why, count] : imported.left_out)
      reasons += fmt::format("\n  {}: {}", count, why);
    return fail(ErrorKind::usage, "no trial can be imported" + reasons);
  }
  imported.notes = column_notes(reported, study, columns, imported.trials);
  return imported;
}

}  // namespace steptune
