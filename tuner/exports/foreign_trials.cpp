// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "common/csv.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/exports/study_import.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

bool is_sqlite(const fs::path& file) {
  constexpr std::string_view k_magic("SQLite format 3\0", 16);
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 16> begin{};
  stream.read(begin.data(), begin.size());
  return stream && std::string_view(begin.data(), begin.size()) == k_magic;
}

/// Returns the value of an Optuna parameter. Optuna stores a choice as its index in the
/// distribution, and a number unchanged. Returns an empty object if the distribution cannot be read
/// or has no such choice.
Json optuna_value(double stored, const std::string& distribution_text) {
  const auto distribution = parse_json(distribution_text, "distribution_json");
  if (!distribution || !distribution->is_object()) return Json::object();
  const std::string name = text_at(*distribution, "name");
  const auto attributes = distribution->find("attributes");
  if (name == "CategoricalDistribution" && attributes != distribution->end() &&
      attributes->contains("choices")) {
    const Json& choices = (*attributes)["choices"];
    const bool known =
        choices.is_array() && stored >= 0.0 && stored < static_cast<double>(choices.size());
    if (!known || choices[static_cast<std::size_t>(stored)].is_null()) return Json::object();
    return choices[static_cast<std::size_t>(stored)];
  }
  if (name.starts_with("Int") && std::abs(stored) < 1e15) {
    return static_cast<std::int64_t>(std::llround(stored));
  }
  return std::isfinite(stored) ? Json(stored) : Json::object();
}

std::vector<Direction> optuna_directions(SQLite::Database& database, std::int64_t study) {
  std::vector<Direction> directions;
  if (!database.tableExists("study_directions")) return directions;
  SQLite::Statement rows(
      database, "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective");
  rows.bind(1, study);
  while (rows.executeStep()) {
    directions.push_back(rows.getColumn(0).getString() == "MAXIMIZE" ? Direction::maximize
                                                                     : Direction::minimize);
  }
  return directions;
}

void take_optuna_state(const std::string& state, ForeignTrial& trial) {
  trial.failed = state == "FAIL";
  if (state != "COMPLETE" && state != "FAIL") {
    trial.why_left_out = fmt::format("its state is {}", printable_line(state));
  }
}

std::int64_t optuna_study_id(SQLite::Database& database, const std::string& study,
                             std::string& fault) {
  SQLite::Statement studies(database, "SELECT study_id, study_name FROM studies ORDER BY study_id");
  std::int64_t id = 0;
  std::vector<std::string> names;
  while (studies.executeStep()) {
    names.push_back(studies.getColumn(1).getString());
    if (study.empty() || study == names.back()) id = studies.getColumn(0).getInt64();
  }
  if (names.empty()) fault = "has no study";
  if (study.empty() && names.size() > 1) {
    fault = fmt::format("has {} studies; choose one with --from", names.size());
  }
  if (!study.empty() && id == 0) {
    fault = fmt::format("has no study \"{}\"{}", printable_line(study), did_you_mean(study, names));
  }
  return id;
}

Result<ForeignTrials> read_optuna(const fs::path& file, const std::string& study) {
  try {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY,
                              static_cast<int>(1e3 * k_lock_wait_s));
    if (!database.tableExists("trial_params") || !database.tableExists("trial_values")) {
      return fail(ErrorKind::usage, "is an SQLite file, but not of Optuna", file.string());
    }
    std::string fault;
    const std::int64_t id = optuna_study_id(database, study, fault);
    if (!fault.empty()) return fail(ErrorKind::usage, fault, file.string());
    ForeignTrials foreign{"Optuna", {}, optuna_directions(database, id)};
    std::map<std::int64_t, std::size_t> places;
    SQLite::Statement trials(
        database, "SELECT trial_id, state FROM trials WHERE study_id = ? ORDER BY trial_id");
    trials.bind(1, id);
    while (trials.executeStep()) {
      if (std::ssize(foreign.trials) == k_most_budget_trials) {
        return fail(ErrorKind::usage,
                    fmt::format("holds more than {} trials", k_most_budget_trials), file.string());
      }
      places[trials.getColumn(0).getInt64()] = foreign.trials.size();
      foreign.trials.emplace_back();
      take_optuna_state(trials.getColumn(1).getString(), foreign.trials.back());
    }
    SQLite::Statement params(
        database, "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params");
    while (params.executeStep()) {
      const auto place = places.find(params.getColumn(0).getInt64());
      if (place == places.end()) continue;
      foreign.trials[place->second].cells["params_" + params.getColumn(1).getString()] =
          optuna_value(params.getColumn(2).getDouble(), params.getColumn(3).getString());
    }
    SQLite::Statement values(database, "SELECT trial_id, objective, value FROM trial_values");
    while (values.executeStep()) {
      const auto place = places.find(values.getColumn(0).getInt64());
      if (place == places.end() || values.getColumn(2).isNull()) continue;
      const int objective = values.getColumn(1).getInt();
      const std::string column = objective == 0 ? "value" : fmt::format("value_{}", objective);
      foreign.trials[place->second].cells[column] = values.getColumn(2).getDouble();
    }
    return foreign;
  } catch (const SQLite::Exception& exception) {
    return fail(ErrorKind::usage, fmt::format("cannot be read: {}", exception.what()),
                file.string());
  }
}

Result<ForeignTrials> read_csv(const fs::path& file) {
  const auto csv = read_csv_file(file);
  if (!csv) return tl::unexpected(csv.error());
  std::vector<std::string> header = csv->header;
  // Skip the byte order mark with which spreadsheets start a UTF-8 file.
  if (!header.empty() && header.front().starts_with("\xef\xbb\xbf")) header.front().erase(0, 3);
  std::set<std::string> columns;
  for (const std::string& column : header) {
    if (!columns.insert(column).second) {
      return fail(ErrorKind::usage, fmt::format("has two columns \"{}\"", printable_line(column)),
                  file.string());
    }
  }
  const bool of_optuna =
      columns.contains("state") && (columns.contains("value") || columns.contains("values_0"));
  ForeignTrials foreign{of_optuna ? "Optuna's table" : "CSV", {}};
  for (const auto& row : csv->rows) {
    ForeignTrial trial;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty()) trial.cells[header[i]] = row[i];
    }
    if (of_optuna) {
      const auto state = trial.cells.find("state");
      take_optuna_state(state == trial.cells.end() ? "not given" : plain_text(state->second),
                        trial);
    }
    foreign.trials.push_back(std::move(trial));
  }
  return foreign;
}

}  // namespace

Result<ForeignTrials> read_foreign_trials(const fs::path& path, const std::string& study) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return fail(ErrorKind::usage, "is no file", path.string(),
                "name an SQLite file of Optuna or a CSV file");
  }
  return is_sqlite(path) ? read_optuna(path, study) : read_csv(path);
}

}  // namespace steptune
