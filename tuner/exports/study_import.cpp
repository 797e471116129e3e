// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/study_import.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "common/json_fields.hpp"
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

/// As other programs call the column of a parameter; a metric may have the bare name.
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
  if (cell.is_number()) return cell.get<double>();
  return cell.is_string() ? parse_finite(cell.get<std::string>()) : std::nullopt;
}

/// The parameter's value that the cell tells; nothing where it is none of its values.
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

/// The columns that hold an objective: by its name, and Optuna's in their order.
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

/// Optuna tells which way its objectives are better; taken the wrong way its worst trial is best.
Result<void> check_directions(const ForeignTrials& foreign, const StudySpec& study,
                              const ImportColumns& columns) {
  for (const Objective& objective : study.objectives) {
    for (std::size_t i = 0; i < foreign.directions.size(); ++i) {
      const std::string column = i == 0 ? "value" : fmt::format("value_{}", i);
      if (column_of(objective.metric, columns) != column) continue;
      if (foreign.directions[i] == objective.direction) continue;
      const bool is_maximized = foreign.directions[i] == Direction::maximize;
      return fail(ErrorKind::usage,
                  fmt::format("Optuna's objective {} is {}, \"{}\" of the study is not", i + 1,
                              is_maximized ? "maximized" : "minimized", objective.metric),
                  "", "export its trials as CSV with a column that has the study's meaning");
    }
  }
  return {};
}

/// Parameters that at least one trial tells.
std::set<std::string> told_parameters(const ForeignTrials& foreign, const SearchSpace& space,
                                      const ImportColumns& columns) {
  std::set<std::string> told;
  for (const Parameter& parameter : space.parameters()) {
    const bool is_told = std::ranges::any_of(foreign.trials, [&](const ForeignTrial& trial) {
      return parameter_cell(trial, parameter.name, columns) != nullptr;
    });
    if (is_told) told.insert(parameter.name);
  }
  return told;
}

/// What may be wrong with a column that is taken for `time`: seconds per sample, or of the run.
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
        "\"{}\" looks like the time since a trial began: those that were stopped early seem fast",
        printable_line(column)));
  }
  return notes;
}

/// Drops what has no effect, for tables have a value in each column; tells which parameters have
/// one.
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

}  // namespace

Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                const StudySpec& study,
                                                const ImportColumns& given) {
  const ImportColumns columns = with_objectives(foreign, study, given);
  if (auto same = check_directions(foreign, study, columns); !same) {
    return tl::unexpected(same.error());
  }
  ImportedTrials imported;
  std::set<std::string> told = told_parameters(foreign, study.space, columns);
  for (const ForeignTrial& row : foreign.trials) {
    TrialRecord trial;
    std::string why = row.left;
    std::vector<std::string> not_told;
    for (const Parameter& parameter : study.space.parameters()) {
      const Json* cell = parameter_cell(row, parameter.name, columns);
      if (cell == nullptr) {
        const Value* today = study.baseline.find(parameter.name);
        if (today != nullptr) trial.configuration.set(parameter.name, *today);
        if (told.contains(parameter.name)) not_told.push_back(parameter.name);
        continue;
      }
      auto value = value_in(*cell, parameter);
      if (value && std::isnan(parameter.position_of(*value))) value.reset();
      if (!value && why.empty()) {
        why = fmt::format("\"{}\" is not in the study's space", parameter.name);
      }
      if (value) trial.configuration.set(parameter.name, *value);
    }
    for (const Objective& objective : study.objectives) {
      const Json* cell = objective_cell(row, objective.metric, columns);
      const auto value = cell == nullptr ? std::nullopt : number_in(*cell);
      if (cell != nullptr) told.insert(objective.metric);
      if (value) trial.objectives.push_back(*value);
    }
    const bool complete = !row.failed && trial.objectives.size() == study.objectives.size();
    if (!complete && !row.failed && why.empty()) why = "without a value of every objective";
    if (why.empty()) {
      const std::set<std::string> active = keep_active(study.space, trial.configuration);
      for (const std::string& name : not_told) {
        // Only where it has an effect: tables leave the others empty.
        if (why.empty() && active.contains(name)) why = fmt::format("no value of \"{}\"", name);
      }
    }
    if (why.empty() && !study.space.contains(trial.configuration)) {
      why = "not in the study's space, or against its constraints";
    }
    if (!why.empty()) {
      ++imported.left[why];
      continue;
    }
    trial.number = static_cast<std::int64_t>(imported.trials.size()) + 1;
    trial.origin = k_import_origin;
    trial.status = complete ? TrialStatus::completed : TrialStatus::failed;
    if (!complete) {
      trial.objectives.clear();
      trial.failure = fmt::format("failed in {}", foreign.kind);
    }
    // How far the values may be off, no table tells: nothing can be told from the best of them.
    trial.standard_errors.assign(trial.objectives.size(), std::numeric_limits<double>::infinity());
    imported.trials.push_back(std::move(trial));
  }
  for (const auto& [name, column] : given) {
    if (!told.contains(name)) {
      return fail(ErrorKind::usage, fmt::format("no column \"{}\" for \"{}\"",
                                                printable_line(column), printable_line(name)));
    }
  }
  for (const Objective& objective : study.objectives) {
    if (told.contains(objective.metric)) continue;
    return fail(ErrorKind::usage, fmt::format("no column holds \"{}\"", objective.metric), "",
                fmt::format("--column {}=COLUMN", objective.metric));
  }
  if (imported.trials.empty()) {
    std::string reasons;
    for (const auto& [why, count] : imported.left)
      reasons += fmt::format("\n  {}: {}", count, why);
    return fail(ErrorKind::usage, "no trial lies in the study's space" + reasons);
  }
  for (const Parameter& parameter : study.space.parameters()) {
    if (told.contains(parameter.name)) continue;
    imported.notes.push_back(
        fmt::format("no column holds \"{}\": all trials are taken to have the baseline's value",
                    parameter.name));
  }
  for (const Objective& objective : study.objectives) {
    if (!objective.is_time()) continue;
    for (std::string& note : time_notes(column_of("time", columns), imported.trials))
      imported.notes.push_back(std::move(note));
  }
  return imported;
}

}  // namespace steptune
