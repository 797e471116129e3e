// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/trial_row.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/own_json.hpp"
#include "tuner/history/gpu_use_fields.hpp"

namespace steptune {
namespace {

tl::unexpected<Error> unreadable(const std::string& where, const std::string& what) {
  return fail(
      ErrorKind::store, "contains " + what + " that cannot be read", where,
      "the history is damaged or was edited: restore a backup, or start a new one with --db");
}

void put(Json& json, const char* name, double value) {
  if (std::isfinite(value)) json[name] = value;
}

void get(const Json& json, const char* name, double& value) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_number()) value = found->get<double>();
}

Json numbers_to_json(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) {
    if (std::isfinite(value)) json[name] = value;
  }
  return json;
}

std::map<std::string, double> numbers_from_json(const Json& json, const char* name) {
  std::map<std::string, double> numbers;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return numbers;
  for (const auto& [key, value] : found->items()) {
    if (value.is_number()) numbers[key] = value.get<double>();
  }
  return numbers;
}

void put_phases(Json& json, const std::map<std::string, PhaseEstimate>& phases) {
  for (const auto& [name, phase] : phases) {
    Json& phase_json = json["phases"][name];
    put(phase_json, "count", phase.count);
    put(phase_json, "seconds", phase.seconds);
    put(phase_json, "seconds_error", phase.seconds_error);
    put(phase_json, "period_samples", phase.period_samples);
    put(phase_json, "period_error", phase.period_error);
  }
}

std::map<std::string, PhaseEstimate> phases_from_json(const Json& json) {
  std::map<std::string, PhaseEstimate> phases;
  const auto found = json.find("phases");
  if (found == json.end() || !found->is_object()) return phases;
  for (const auto& [name, phase_json] : found->items()) {
    PhaseEstimate& phase = phases[name];
    get(phase_json, "count", phase.count);
    get(phase_json, "seconds", phase.seconds);
    get(phase_json, "seconds_error", phase.seconds_error);
    get(phase_json, "period_samples", phase.period_samples);
    get(phase_json, "period_error", phase.period_error);
  }
  return phases;
}

Json to_json(const GpuUse& gpu) {
  Json json = Json::object();
  for (const auto& [name, member] : k_gpu_use_fields)
    put(json, name, gpu.*member);
  json["most_strangers"] = gpu.most_strangers;
  return json;
}

std::optional<GpuUse> gpu_from_json(const Json& document) {
  const auto json = document.find("gpu");
  if (json == document.end() || !json->is_object()) return std::nullopt;
  GpuUse gpu;
  for (const auto& [name, member] : k_gpu_use_fields)
    get(*json, name, gpu.*member);
  double strangers = 0.0;
  get(*json, "most_strangers", strangers);
  gpu.most_strangers = static_cast<int>(strangers);
  return gpu;
}

std::vector<LevelChange> level_changes_from_json(const Json& json) {
  std::vector<LevelChange> changes;
  const auto found = json.find("level_changes");
  if (found == json.end() || !found->is_array()) return changes;
  for (const Json& change_json : *found) {
    LevelChange& change = changes.emplace_back();
    get(change_json, "at_samples", change.at_samples);
    get(change_json, "at_s", change.at_s);
    get(change_json, "ratio", change.ratio);
  }
  return changes;
}

double at(const std::vector<double>& values, std::size_t index) {
  return index < values.size() ? values[index] : std::numeric_limits<double>::quiet_NaN();
}

double number_or(const SQLite::Column& column, double otherwise) {
  return column.isNull() ? otherwise : column.getDouble();
}

std::optional<double> optional_number(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

Json milestones_to_json(const std::vector<Milestone>& milestones) {
  Json json = Json::array();
  for (const Milestone& milestone : milestones) {
    json.push_back({{"fidelity", milestone.fidelity},
                    {"values", milestone.values},
                    {"standard_errors", milestone.standard_errors}});
  }
  return json;
}

Result<std::vector<Milestone>> milestones_from_json(const Json& measurement, const char* name,
                                                    const std::string& where) {
  std::vector<Milestone> milestones;
  if (!measurement.contains(name)) return milestones;
  try {
    for (const Json& json : measurement[name]) {
      milestones.push_back({json.at("fidelity").get<double>(),
                            json.at("values").get<std::vector<double>>(),
                            json.at("standard_errors").get<std::vector<double>>()});
    }
  } catch (const Json::exception&) {
    return unreadable(where, fmt::format("the {} of a trial", name));
  }
  return milestones;
}

Result<void> read_documents(const Query& query, const std::string& where, TrialRecord& trial) {
  const auto configuration = parse_own_json(query.column(4).getString());
  if (!configuration) return unreadable(where, "a configuration");
  auto values = configuration_from_json(*configuration, where);
  if (!values) return unreadable(where, "a configuration");
  trial.configuration = *std::move(values);

  if (!query.column(17).isNull()) {
    const auto document = parse_own_json(query.column(17).getString());
    if (!document) return unreadable(where, "a measurement");
    auto measurement = measurement_from_json(*document, where);
    if (!measurement) return tl::unexpected(measurement.error());
    trial.measurement = *std::move(measurement);
    trial.gpu = gpu_from_json(*document);
    trial.hook = document->value("hook", Json());
    get(*document, "disturbed_s", trial.disturbed_s);
    if (document->contains("expected_improvement")) {
      get(*document, "expected_improvement", trial.expected_improvement.emplace());
    }
    if (const auto level = document->find("machine_level");
        level != document->end() && level->is_object()) {
      get(*level, "log_ratio", trial.level.log_ratio);
      get(*level, "standard_error", trial.level.standard_error);
    }
    if (document->contains("storage_read_bytes")) {
      get(*document, "storage_read_bytes", trial.storage_read_bytes.emplace());
    }
    for (const auto& [name, list] :
         {std::pair{"milestones", &trial.milestones}, std::pair{"rungs", &trial.rungs}}) {
      auto read = milestones_from_json(*document, name, where);
      if (!read) return tl::unexpected(read.error());
      *list = *std::move(read);
    }
  }
  const auto placement = parse_own_json(query.column(22).getString());
  if (!placement || !placement->is_object()) return unreadable(where, "a placement");
  for (const auto& [name, text] : placement->items()) {
    if (text.is_string()) trial.placement[name] = text.get<std::string>();
  }
  return {};
}

void read_objectives(const Query& query, TrialRecord& trial) {
  const int count = query.column(12).getInt();
  for (int index = 0; index < count; ++index) {
    trial.objectives.push_back(
        number_or(query.column(13 + index), std::numeric_limits<double>::quiet_NaN()));
    trial.standard_errors.push_back(
        number_or(query.column(15 + index), std::numeric_limits<double>::infinity()));
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
    Json json = to_json(*trial.measurement);
    if (!trial.milestones.empty()) json["milestones"] = milestones_to_json(trial.milestones);
    if (!trial.rungs.empty()) json["rungs"] = milestones_to_json(trial.rungs);
    if (trial.gpu) json["gpu"] = to_json(*trial.gpu);
    if (!trial.hook.is_null()) json["hook"] = trial.hook;
    if (trial.disturbed_s > 0.0) put(json, "disturbed_s", trial.disturbed_s);
    if (trial.expected_improvement) put(json, "expected_improvement", *trial.expected_improvement);
    if (trial.level.log_ratio != 0.0) {
      put(json["machine_level"], "log_ratio", trial.level.log_ratio);
      put(json["machine_level"], "standard_error", trial.level.standard_error);
    }
    if (trial.storage_read_bytes) put(json, "storage_read_bytes", *trial.storage_read_bytes);
    query.bind(dump_json(json));
  } else {
    query.bind_null();
  }
  query.bind(trial.peak_memory_bytes);
  if (trial.disturbance) {
    query.bind(trial.disturbance->other_load).bind(trial.disturbance->steal);
  } else {
    query.bind_null().bind_null();
  }
  query.bind(trial.failure).bind(dump_json(to_json(trial.placement))).bind(trial.log_path.string());
}

Result<TrialRecord> read_trial(const Query& query, const std::string& where) {
  TrialRecord trial;
  trial.number = query.column(0).getInt64();
  const std::string trial_where = fmt::format("{}, trial {}", where, trial.number);
  const auto purpose = trial_purpose_from_text(query.column(1).getString());
  const auto status = trial_status_from_text(query.column(5).getString());
  if (!purpose) return unreadable(trial_where, "a purpose");
  if (!status) return unreadable(trial_where, "a status");
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
    trial.disturbance = Disturbance{query.column(19).getDouble(), query.column(20).getDouble()};
  }
  trial.failure = query.column(21).getString();
  trial.log_path = query.column(23).getString();
  if (auto read = read_documents(query, trial_where, trial); !read) {
    return tl::unexpected(read.error());
  }
  return trial;
}

Json to_json(const Measurement& measurement) {
  Json json{{"status", to_text(measurement.status)}};
  put(json, "seconds_per_sample", measurement.seconds_per_sample);
  put(json, "half_width_s", measurement.half_width_s);
  put(json, "step_seconds_per_sample", measurement.step_seconds_per_sample);
  put(json, "step_half_width_s", measurement.step_half_width_s);
  put(json, "slowest_seconds_per_sample", measurement.slowest_seconds_per_sample);
  put(json, "startup_s", measurement.startup_s);
  put(json, "warmup_s", measurement.warmup_s);
  put(json, "warmup_excess_s", measurement.warmup_excess_s);
  put(json, "window_s", measurement.window_s);
  put(json, "window_steps", measurement.window_steps);
  put(json, "window_samples", measurement.window_samples);
  put(json, "total_samples", measurement.total_samples);
  if (measurement.samples_told) json["samples_told"] = *measurement.samples_told;
  put_phases(json, measurement.phases);
  for (const LevelChange& change : measurement.level_changes) {
    json["level_changes"].push_back(
        {{"at_samples", change.at_samples}, {"at_s", change.at_s}, {"ratio", change.ratio}});
  }
  if (!measurement.remark.empty()) json["remark"] = measurement.remark;
  if (!measurement.metrics.empty()) json["metrics"] = numbers_to_json(measurement.metrics);
  for (const auto& name : measurement.not_finite)
    json["not_finite"].push_back(name);
  if (!measurement.parts.empty()) json["parts"] = numbers_to_json(measurement.parts);
  return json;
}

Result<Measurement> measurement_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) return unreadable(where, "a measurement");
  const auto status_text = json.find("status");
  const auto status = status_text != json.end() && status_text->is_string()
                          ? measurement_status_from_text(status_text->get<std::string>())
                          : std::nullopt;
  if (!status) return unreadable(where, "a measurement");
  Measurement measurement;
  measurement.status = *status;
  get(json, "seconds_per_sample", measurement.seconds_per_sample);
  get(json, "half_width_s", measurement.half_width_s);
  get(json, "step_seconds_per_sample", measurement.step_seconds_per_sample);
  get(json, "step_half_width_s", measurement.step_half_width_s);
  get(json, "slowest_seconds_per_sample", measurement.slowest_seconds_per_sample);
  get(json, "startup_s", measurement.startup_s);
  get(json, "warmup_s", measurement.warmup_s);
  get(json, "warmup_excess_s", measurement.warmup_excess_s);
  get(json, "window_s", measurement.window_s);
  get(json, "window_steps", measurement.window_steps);
  get(json, "window_samples", measurement.window_samples);
  get(json, "total_samples", measurement.total_samples);
  if (const auto told = json.find("samples_told"); told != json.end() && told->is_boolean()) {
    measurement.samples_told = told->get<bool>();
  }
  measurement.phases = phases_from_json(json);
  measurement.level_changes = level_changes_from_json(json);
  if (const auto remark = json.find("remark"); remark != json.end() && remark->is_string()) {
    measurement.remark = remark->get<std::string>();
  }
  measurement.metrics = numbers_from_json(json, "metrics");
  measurement.parts = numbers_from_json(json, "parts");
  if (const auto names = json.find("not_finite"); names != json.end() && names->is_array()) {
    for (const auto& name : *names) {
      if (name.is_string()) measurement.not_finite.insert(name.get<std::string>());
    }
  }
  return measurement;
}

Json to_json(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts)
    json[name] = text;
  return json;
}

}  // namespace steptune
