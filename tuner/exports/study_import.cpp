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

/// As other programs call the column of a parameter.
const Json* cell_of(const ForeignTrial& trial, const std::string& name,
                    const ImportColumns& columns) {
  std::vector<std::string> names = {name, "config/" + name, "params_" + name, "config_" + name};
  if (const auto given = columns.find(name); given != columns.end()) names = {given->second};
  for (const std::string& each : names) {
    const auto cell = trial.cells.find(each);
    if (cell != trial.cells.end() && !cell->second.is_null()) return &cell->second;
  }
  return nullptr;
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
    const bool is_number = !std::holds_alternative<std::string>(choice);
    if (is_number && number && to_number(choice) == *number) return choice;
  }
  return std::nullopt;
}

/// The columns that may hold an objective: by its name, and the only one of Optuna.
ImportColumns with_objectives(const ForeignTrials& foreign, const StudySpec& study,
                              ImportColumns columns) {
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    const std::string& metric = study.objectives[i].metric;
    if (foreign.kind != "Optuna" || columns.contains(metric)) continue;
    columns[metric] = i == 0 ? "value" : fmt::format("value_{}", i);
  }
  return columns;
}

/// Tables have a value in each column, also where the parameter has no effect.
void drop_inactive(const SearchSpace& space, Configuration& configuration) {
  const Configuration active = space.decode(space.encode(configuration));
  for (const Parameter& parameter : space.parameters()) {
    if (!active.contains(parameter.name)) configuration.erase(parameter.name);
  }
}

}  // namespace

Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                const StudySpec& study,
                                                const ImportColumns& given) {
  const ImportColumns columns = with_objectives(foreign, study, given);
  ImportedTrials imported;
  std::set<std::string> told;
  for (const ForeignTrial& row : foreign.trials) {
    TrialRecord trial;
    std::string why;
    for (const Parameter& parameter : study.space.parameters()) {
      const Json* cell = cell_of(row, parameter.name, columns);
      if (cell == nullptr) {
        const Value* today = study.baseline.find(parameter.name);
        if (today != nullptr) trial.configuration.set(parameter.name, *today);
        continue;
      }
      told.insert(parameter.name);
      auto value = value_in(*cell, parameter);
      if (value && std::isnan(parameter.position_of(*value))) value.reset();
      if (!value) why = fmt::format("\"{}\" is not in the study's space", parameter.name);
      if (value) trial.configuration.set(parameter.name, *value);
    }
    for (const Objective& objective : study.objectives) {
      const Json* cell = cell_of(row, objective.metric, columns);
      const auto value = cell == nullptr ? std::nullopt : number_in(*cell);
      if (cell != nullptr) told.insert(objective.metric);
      if (value) trial.objectives.push_back(*value);
    }
    const bool complete = !row.failed && trial.objectives.size() == study.objectives.size();
    if (!complete && !row.failed && why.empty()) why = "without a value of every objective";
    if (why.empty()) drop_inactive(study.space, trial.configuration);
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
    return fail(ErrorKind::usage, fmt::format("no column tells \"{}\"", objective.metric), "",
                fmt::format("--column {}=COLUMN", objective.metric));
  }
  if (imported.trials.empty()) {
    std::string reasons;
    for (const auto& [why, count] : imported.left)
      reasons += fmt::format("\n  {}: {}", count, why);
    return fail(ErrorKind::usage, "no trial stands in the study's space" + reasons);
  }
  return imported;
}

}  // namespace steptune
