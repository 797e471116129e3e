// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/trial_row.hpp"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "common/json.hpp"
#include "common/numbers.hpp"
#include "tuner/history/trial_documents.hpp"

namespace steptune {
namespace {

/// Returns a column's text, which is valid until the query's next step.
std::string_view text_of(const Query& query, int index) {
  const SQLite::Column column = query.column(index);
  const char* text = column.getText();
  return {text, static_cast<std::size_t>(column.getBytes())};
}

double at(const std::vector<double>& values, std::size_t index) {
  return index < values.size() ? values[index] : k_nan;
}

double number_or(const SQLite::Column& column, double otherwise) {
  return column.isNull() ? otherwise : column.getDouble();
}

std::optional<double> optional_number(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

void read_objectives(const Query& query, TrialRecord& trial) {
  const int count = query.column(12).getInt();
  for (int index = 0; index < count; ++index) {
    trial.objectives.push_back(number_or(query.column(13 + index), k_nan));
    trial.standard_errors.push_back(number_or(query.column(15 + index), k_infinity));
  }
}

}  // namespace

void bind_trial(Query& query, const TrialRecord& trial) {
  query.bind(trial.number)
      .bind(to_text(trial.purpose))
      .bind(std::int64_t{trial.confirm_pair})
      .bind(trial.origin)
      .bind(dump_json(to_json(trial.configuration)))
      .bind(to_text(trial.status))
      .bind(std::int64_t{trial.attempt})
      .bind(trial.token)
      .bind(trial.started_wall_s)
      .bind(trial.ended_wall_s)
      .bind(trial.spent_s)
      .bind(trial.spent_usd)
      .bind(static_cast<std::int64_t>(trial.objectives.size()))
      .bind(at(trial.objectives, 0))
      .bind(at(trial.objectives, 1))
      .bind(at(trial.standard_errors, 0))
      .bind(at(trial.standard_errors, 1));
  if (trial.measurement) {
    query.bind(measurement_document(trial));
  } else {
    query.bind_null();
  }
  query.bind(trial.peak_memory_bytes);
  if (trial.disturbance) {
    query.bind(trial.disturbance->other_load).bind(trial.disturbance->steal);
  } else {
    query.bind_null().bind_null();
  }
  query.bind(trial.failure).bind(texts_document(trial.placement)).bind(trial.log_path.string());
}

Result<TrialRecord> read_trial(const Query& query, Milestones milestones,
                               const std::string& where) {
  TrialRecord trial;
  trial.number = query.column(0).getInt64();
  const auto unreadable = [&](const char* what) {
    return fail(
        ErrorKind::store, fmt::format("contains {} that cannot be read", what),
        fmt::format("{}, trial {}", where, trial.number),
        "the history is damaged or was edited: restore a backup, or start a new one with --db");
  };
  const auto purpose = trial_purpose_from_text(text_of(query, 1));
  const auto status = trial_status_from_text(text_of(query, 5));
  if (!purpose) return unreadable("a purpose");
  if (!status) return unreadable("a status");
  trial.purpose = *purpose;
  trial.status = *status;
  trial.confirm_pair = query.column(2).getInt();
  trial.origin = query.column(3).getString();
  trial.attempt = query.column(6).getInt();
  trial.token = query.column(7).getString();
  trial.started_wall_s = query.column(8).getDouble();
  trial.ended_wall_s = query.column(9).getDouble();
  trial.spent_s = query.column(10).getDouble();
  trial.spent_usd = query.column(11).getDouble();
  read_objectives(query, trial);
  trial.peak_memory_bytes = optional_number(query.column(18));
  if (!query.column(19).isNull() || !query.column(20).isNull()) {
    trial.disturbance = Disturbance{};
    trial.disturbance->other_load =
        optional_number(query.column(19)).value_or(MachineSecond::k_unknown);
    trial.disturbance->steal = optional_number(query.column(20)).value_or(MachineSecond::k_unknown);
  }
  trial.failure = query.column(21).getString();
  trial.log_path = query.column(23).getString();
  if (!read_configuration(text_of(query, 4), trial.configuration)) {
    return unreadable("a configuration");
  }
  if (!read_texts(text_of(query, 22), trial.placement)) return unreadable("a placement");
  if (!query.column(17).isNull() && !read_measurement(text_of(query, 17), milestones, trial)) {
    return unreadable("a measurement");
  }
  return trial;
}

}  // namespace steptune
