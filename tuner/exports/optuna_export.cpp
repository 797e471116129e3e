// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/json_fields.hpp"
#include "common/utf8.hpp"
#include "tuner/exports/study_export.hpp"

namespace steptune {
namespace {

// The tables of Optuna 3 (optuna/storages/_rdb/models.py, schema version 12). The table
// `alembic_version` is left out. The version of Optuna that opens the file writes it, so no version
// refuses the file.
constexpr const char* k_optuna_tables = R"sql(
CREATE TABLE studies (study_id INTEGER NOT NULL, study_name VARCHAR(512) NOT NULL,
  PRIMARY KEY (study_id));
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER,
  library_version VARCHAR(256), PRIMARY KEY (version_info_id), CHECK (version_info_id=1));
CREATE TABLE study_directions (study_direction_id INTEGER NOT NULL, direction VARCHAR(8) NOT NULL,
  study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id),
  UNIQUE (study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE study_user_attributes (study_user_attribute_id INTEGER NOT NULL, study_id INTEGER,
  "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_user_attribute_id),
  UNIQUE (study_id, "key"), FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE study_system_attributes (study_system_attribute_id INTEGER NOT NULL, study_id INTEGER,
  "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_system_attribute_id),
  UNIQUE (study_id, "key"), FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE trials (trial_id INTEGER NOT NULL, number INTEGER, study_id INTEGER,
  state VARCHAR(8) NOT NULL, datetime_start DATETIME, datetime_complete DATETIME,
  PRIMARY KEY (trial_id), FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE trial_user_attributes (trial_user_attribute_id INTEGER NOT NULL, trial_id INTEGER,
  "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_user_attribute_id),
  UNIQUE (trial_id, "key"), FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_system_attributes (trial_system_attribute_id INTEGER NOT NULL,
  trial_id INTEGER, "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_system_attribute_id),
  UNIQUE (trial_id, "key"), FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_params (param_id INTEGER NOT NULL, trial_id INTEGER, param_name VARCHAR(512),
  param_value FLOAT, distribution_json TEXT, PRIMARY KEY (param_id),
  UNIQUE (trial_id, param_name), FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_values (trial_value_id INTEGER NOT NULL, trial_id INTEGER NOT NULL,
  objective INTEGER NOT NULL, value FLOAT, value_type VARCHAR(7) NOT NULL,
  PRIMARY KEY (trial_value_id), UNIQUE (trial_id, objective),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL,
  trial_id INTEGER NOT NULL, step INTEGER NOT NULL, intermediate_value FLOAT,
  intermediate_value_type VARCHAR(7) NOT NULL, PRIMARY KEY (trial_intermediate_value_id),
  UNIQUE (trial_id, step), FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL, trial_id INTEGER NOT NULL,
  heartbeat DATETIME NOT NULL, PRIMARY KEY (trial_heartbeat_id), UNIQUE (trial_id),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
INSERT INTO version_info VALUES (1, 12, '3.1.0');
)sql";

Json distribution(const char* name, Json attributes) {
  return {{"name", name}, {"attributes", std::move(attributes)}};
}

/// True if the parameter is exported as a list of its values (categorical). Optuna has no type for
/// ordered values that are no numbers, and none for powers of two.
bool is_listed(const Parameter& parameter) {
  const bool is_integer = parameter.kind == ParameterKind::integer;
  return is_integer ? parameter.scale == Scale::log2 : parameter.kind != ParameterKind::floating;
}

Json distribution_of(const Parameter& parameter) {
  if (is_listed(parameter)) {
    Json choices = Json::array();
    for (std::uint64_t level = 0; level < *parameter.level_count(); ++level)
      choices.push_back(to_json(parameter.level(level)));
    return distribution("CategoricalDistribution", {{"choices", choices}});
  }
  // In Optuna, a logarithmic scale cannot start at 0.
  const bool log = parameter.scale == Scale::log && parameter.low > 0.0;
  // Use the last value that the steps reach as the upper end.
  const auto count = parameter.level_count();
  const double high = count ? to_number(parameter.level(*count - 1)) : parameter.high;
  if (parameter.kind == ParameterKind::integer) {
    return distribution("IntDistribution",
                        {{"log", log},
                         {"step", static_cast<std::int64_t>(parameter.step.value_or(1.0))},
                         {"low", static_cast<std::int64_t>(parameter.low)},
                         {"high", static_cast<std::int64_t>(high)}});
  }
  return distribution("FloatDistribution", {{"step", number_or_null(parameter.step)},
                                            {"low", parameter.low},
                                            {"high", high},
                                            {"log", log}});
}

/// Returns a value as the table `trial_params` stores it: a value of a list as its index, a number
/// unchanged.
double stored_value(const Parameter& parameter, const Value& value) {
  return is_listed(parameter) ? static_cast<double>(parameter.level_of(value).value_or(0))
                              : to_number(value);
}

bool has_values(const TrialRecord& trial, std::size_t objectives) {
  if (trial.objectives.size() != objectives) return false;
  for (const double value : trial.objectives) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

const char* state_of(const TrialRecord& trial, std::size_t objectives) {
  switch (trial.status) {
    case TrialStatus::launching:
    case TrialStatus::running:
      return "RUNNING";
    case TrialStatus::completed:
      return has_values(trial, objectives) ? "COMPLETE" : "FAIL";
    case TrialStatus::stopped_early:
      return "PRUNED";
    case TrialStatus::infeasible:
    case TrialStatus::failed:
    case TrialStatus::out_of_memory:
    case TrialStatus::interrupted:
      break;
  }
  return "FAIL";
}

/// Returns a time as SQLAlchemy writes it, in UTC.
std::string datetime_text(double wall_time_s) {
  const auto seconds = static_cast<std::time_t>(std::floor(wall_time_s));
  const auto microseconds = static_cast<int>((wall_time_s - static_cast<double>(seconds)) * 1e6);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}", fmt::gmtime(seconds), microseconds);
}

/// Writes one study into a database with Optuna's tables.
class OptunaWriter {
 public:
  OptunaWriter(SQLite::Database& database, const StudyExport& study)
      : database_(database), study_(study) {}

  void write() {
    database_.exec(k_optuna_tables);
    insert("INSERT INTO studies VALUES (1, ?)", as_utf8(study_.record.name));
    const auto& objectives = study_.board.objectives;
    Json metrics = Json::array();
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const bool minimize = objectives[i].objective.direction == Direction::minimize;
      insert("INSERT INTO study_directions (direction, study_id, objective) VALUES (?, 1, ?)",
             minimize ? "MINIMIZE" : "MAXIMIZE", static_cast<std::int64_t>(i));
      metrics.push_back(objectives[i].objective.metric);
    }
    insert("INSERT INTO study_system_attributes (study_id, key, value_json) VALUES (1, ?, ?)",
           "study:metric_names", dump_json(metrics));
    attribute("study_user_attributes", "study_id", 1, "steptune:fingerprint",
              study_.record.fingerprint);
    attribute("study_user_attributes", "study_id", 1, "steptune:status",
              to_text(study_.record.status));
    if (study_.record.recommendation.is_object()) {
      attribute("study_user_attributes", "study_id", 1, "steptune:recommendation",
                study_.record.recommendation);
    }
    for (const TrialRecord& trial : study_.trials) {
      if (is_compared(trial.purpose)) write_trial(trial);
    }
  }

 private:
  template <typename... Values>
  void insert(const char* sql, const Values&... values) {
    SQLite::Statement statement(database_, sql);
    int place = 0;
    (statement.bind(++place, values), ...);
    statement.exec();
  }

  void attribute(const std::string& table, const std::string& owner, std::int64_t id,
                 const std::string& key, const Json& value) {
    insert(
        fmt::format("INSERT INTO {} ({}, key, value_json) VALUES (?, ?, ?)", table, owner).c_str(),
        id, key, dump_json(value));
  }

  void write_trial(const TrialRecord& trial) {
    const std::int64_t id = ++trials_;
    const std::string state = state_of(trial, study_.board.objectives.size());
    insert("INSERT INTO trials (trial_id, number, study_id, state) VALUES (?, ?, 1, ?)", id, id - 1,
           state);
    if (trial.started_wall_s > 0.0) {
      insert("UPDATE trials SET datetime_start = ? WHERE trial_id = ?",
             datetime_text(trial.started_wall_s), id);
    }
    if (trial.ended_wall_s > 0.0 && state != "RUNNING") {
      insert("UPDATE trials SET datetime_complete = ? WHERE trial_id = ?",
             datetime_text(trial.ended_wall_s), id);
    }
    write_parameters(trial, id);
    if (state == "COMPLETE" ||
        (state == "PRUNED" && has_values(trial, study_.board.objectives.size()))) {
      for (std::size_t i = 0; i < trial.objectives.size(); ++i) {
        insert(
            "INSERT INTO trial_values (trial_id, objective, value, value_type) "
            "VALUES (?, ?, ?, 'FINITE')",
            id, static_cast<std::int64_t>(i), trial.objectives[i]);
      }
    }
    write_intermediate(trial, id);
    write_attributes(trial, id);
  }

  void write_parameters(const TrialRecord& trial, std::int64_t id) {
    for (const Parameter& parameter : study_.spec.space.parameters()) {
      const Value* value = trial.configuration.find(parameter.name);
      if (value == nullptr) continue;
      insert(
          "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
          "VALUES (?, ?, ?, ?)",
          id, parameter.name, stored_value(parameter, *value),
          dump_json(distribution_of(parameter)));
    }
  }

  void write_intermediate(const TrialRecord& trial, std::int64_t id) {
    const auto trace = study_.traces.find(trial.number);
    if (trace == study_.traces.end() || study_.board.objectives.size() != 1) return;
    const bool minimize = study_.board.objectives[0].objective.direction == Direction::minimize;
    for (const TrialDecision& decision : trace->second.decisions) {
      if (decision.values.size() != 1 || !std::isfinite(decision.values[0])) continue;
      insert(
          "INSERT OR REPLACE INTO trial_intermediate_values (trial_id, step, intermediate_value, "
          "intermediate_value_type) VALUES (?, ?, ?, 'FINITE')",
          id, static_cast<std::int64_t>(std::llround(decision.steps)),
          minimize ? decision.values[0] : -decision.values[0]);
    }
  }

  void write_attributes(const TrialRecord& trial, std::int64_t id) {
    const auto put = [&](const std::string& key, const Json& value) {
      attribute("trial_user_attributes", "trial_id", id, key, value);
    };
    put("number", trial.number);
    put("status", to_text(trial.status));
    put("purpose", to_text(trial.purpose));
    put("origin", trial.origin);
    put("values", numbers_or_null(trial.objectives));
    put("standard_errors", numbers_or_null(trial.standard_errors));
    put("spent_s", number_or_null(trial.spent_s));
    put("spent_usd", number_or_null(trial.spent_usd));
    if (!trial.failure.empty()) put("failure", trial.failure);
    if (trial.peak_memory_bytes) put("peak_memory_bytes", number_or_null(*trial.peak_memory_bytes));
    if (trial.measurement) {
      put("seconds_per_sample", number_or_null(trial.measurement->seconds_per_sample));
      for (const auto& [name, value] : trial.measurement->metrics)
        put("metric:" + name, number_or_null(value));
    }
  }

  SQLite::Database& database_;
  const StudyExport& study_;
  std::int64_t trials_ = 0;
};

}  // namespace

Result<void> write_optuna_study(const StudyExport& study, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    return fail(ErrorKind::conflict, "exists already and may hold other studies", file.string(),
                "name a new file");
  }
  const std::filesystem::path part = fmt::format("{}.{}.part", file.string(), ::getpid());
  std::filesystem::remove(part, error);
  try {
    SQLite::Database database(part.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Transaction transaction(database);
    OptunaWriter(database, study).write();
    transaction.commit();
  } catch (const SQLite::Exception& exception) {
    std::filesystem::remove(part, error);
    return fail(ErrorKind::unavailable, fmt::format("cannot be written: {}", exception.what()),
                file.string());
  }
  std::filesystem::rename(part, file, error);
  if (!error) return {};
  const std::string reason = error.message();
  std::filesystem::remove(part, error);
  return fail(ErrorKind::unavailable, "cannot be written: " + reason, file.string());
}

}  // namespace steptune
