// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_json.hpp"

#include <cmath>

#include "common/json_fields.hpp"
#include "tuner/history/gpu_use_fields.hpp"
#include "tuner/report/format.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {
namespace {

Json time_or_null(double wall_time_s) {
  return wall_time_s > 0.0 ? Json(format_utc(wall_time_s)) : Json(nullptr);
}

Json machine_change_json(const std::optional<MachineFigureChange>& change) {
  if (!change) return nullptr;
  return {{"figure", change->figure},
          {"before", number_or_null(change->before)},
          {"after", number_or_null(change->after)}};
}

Json phase_json(const PhaseEstimate& phase) {
  return {{"count", number_or_null(phase.count)},
          {"seconds", number_or_null(phase.seconds)},
          {"seconds_error", number_or_null(phase.seconds_error)},
          {"period_samples", number_or_null(phase.period_samples)},
          {"period_error", number_or_null(phase.period_error)},
          {"spacing_samples", number_or_null(phase.spacing_samples)}};
}

Json measurement_json(const Measurement& measurement) {
  Json json;
  json["status"] = to_text(measurement.status);
  json["seconds_per_sample"] = number_or_null(measurement.seconds_per_sample);
  json["half_width_95_s"] = number_or_null(measurement.half_width_s);
  json["samples_per_second"] = number_or_null(1.0 / measurement.seconds_per_sample);
  json["step_seconds_per_sample"] = number_or_null(measurement.step_seconds_per_sample);
  json["step_half_width_95_s"] = number_or_null(measurement.step_half_width_s);
  json["slowest_seconds_per_sample"] = number_or_null(measurement.slowest_seconds_per_sample);
  json["startup_s"] = number_or_null(measurement.startup_s);
  json["warmup_s"] = number_or_null(measurement.warmup_s);
  json["warmup_excess_s"] = number_or_null(measurement.warmup_excess_s);
  json["window_s"] = number_or_null(measurement.window_s);
  json["window_steps"] = number_or_null(measurement.window_steps);
  json["window_samples"] = number_or_null(measurement.window_samples);
  json["total_samples"] = number_or_null(measurement.total_samples);
  json["whole_run"] = measurement.whole_run;
  json["samples_reported"] =
      measurement.samples_reported ? Json(*measurement.samples_reported) : Json(nullptr);
  json["steps_known"] = measurement.steps_known ? Json(*measurement.steps_known) : Json(nullptr);
  json["phases"] = Json::object();
  for (const auto& [name, phase] : measurement.phases)
    json["phases"][name] = phase_json(phase);
  json["level_changes"] = Json::array();
  for (const LevelChange& change : measurement.level_changes) {
    json["level_changes"].push_back({{"at_samples", number_or_null(change.at_samples)},
                                     {"at_s", number_or_null(change.at_s)},
                                     {"ratio", number_or_null(change.ratio)},
                                     {"machine", machine_change_json(change.machine)}});
  }
  json["remark"] = measurement.remark.empty() ? Json(nullptr) : Json(measurement.remark);
  json["metrics"] = Json::object();
  for (const auto& [name, value] : measurement.metrics)
    json["metrics"][name] = number_or_null(value);
  json["metric_errors"] = Json::object();
  for (const auto& [name, error] : measurement.metric_errors)
    json["metric_errors"][name] = number_or_null(error);
  json["parts_s_per_sample"] = Json::object();
  for (const auto& [name, value] : measurement.parts) {
    json["parts_s_per_sample"][name] = number_or_null(value);
  }
  return json;
}

Json objective_values_json(const TrialRecord& trial, const std::vector<ObjectiveView>& objectives) {
  Json values = Json::array();
  for (std::size_t i = 0; i < trial.objectives.size() && i < objectives.size(); ++i) {
    const double half_width = half_width_95(trial, i);
    values.push_back({{"metric", objectives[i].objective.metric},
                      {"value", number_or_null(trial.objectives[i])},
                      {"half_width_95", half_width > 0.0 ? Json(half_width) : Json(nullptr)},
                      {"unit", objectives[i].unit()}});
  }
  return values;
}

}  // namespace

Json trial_json(const TrialRecord& trial, const std::vector<ObjectiveView>& objectives) {
  Json json;
  json["number"] = trial.number;
  json["status"] = to_text(trial.status);
  json["purpose"] = to_text(trial.purpose);
  json["confirm_pair"] = trial.confirm_pair > 0 ? Json(trial.confirm_pair) : Json(nullptr);
  json["origin"] = trial.origin;
  json["attempt"] = trial.attempt;
  json["configuration"] = to_json(trial.configuration);
  json["objectives"] = objective_values_json(trial, objectives);
  json["measurement"] = trial.measurement ? measurement_json(*trial.measurement) : Json(nullptr);
  json["started"] = time_or_null(trial.started_wall_s);
  json["ended"] = time_or_null(trial.ended_wall_s);
  json["spent_s"] = number_or_null(trial.spent_s);
  json["spent_usd"] = number_or_null(trial.spent_usd);
  json["peak_memory_bytes"] =
      trial.peak_memory_bytes ? number_or_null(*trial.peak_memory_bytes) : Json(nullptr);
  json["cpu_busy_share"] = trial.cpu_busy ? number_or_null(*trial.cpu_busy) : Json(nullptr);
  json["cpu_clock"] = nullptr;
  if (trial.cpu_clock) {
    json["cpu_clock"] = {{"mean_hz", number_or_null(trial.cpu_clock->mean_hz)},
                         {"lowest_hz", number_or_null(trial.cpu_clock->lowest_hz)}};
  }
  json["gpu"] = nullptr;
  if (trial.gpu) {
    json["gpu"] = {{"other_processes", trial.gpu->most_other_processes}};
    for (const auto& [name, member] : k_gpu_use_fields)
      json["gpu"][std::string(name)] = number_or_null((*trial.gpu).*member);
  }
  json["storage_read_bytes"] =
      trial.storage_read_bytes ? number_or_null(*trial.storage_read_bytes) : Json(nullptr);
  json["disturbance"] = nullptr;
  if (trial.disturbance) {
    json["disturbance"] = {{"other_load", number_or_null(trial.disturbance->other_load)},
                           {"steal", number_or_null(trial.disturbance->steal)},
                           {"seconds", number_or_null(trial.disturbed_s)}};
  }
  json["expected_improvement"] =
      trial.expected_improvement ? number_or_null(*trial.expected_improvement) : Json(nullptr);
  json["failure"] = trial.failure.empty() ? Json(nullptr) : Json(trial.failure);
  json["placement"] = Json::object();
  for (const auto& [name, value] : trial.placement)
    json["placement"][name] = value;
  json["log"] = trial.log_path.empty() ? Json(nullptr) : Json(trial.log_path.string());
  return json;
}

Json details_json(const TrialDetails& details) {
  Json json;
  json["trace"] = details.trace ? to_json(*details.trace) : Json(nullptr);
  json["attempts"] = Json::array();
  for (const AttemptRecord& attempt : details.attempts) {
    json["attempts"].push_back(
        {{"attempt", attempt.attempt},
         {"status", to_text(attempt.status)},
         {"started", time_or_null(attempt.started_wall_s)},
         {"ended", time_or_null(attempt.ended_wall_s)},
         {"spent_s", number_or_null(attempt.spent_s)},
         {"spent_usd", number_or_null(attempt.spent_usd)},
         {"failure", attempt.failure.empty() ? Json(nullptr) : Json(attempt.failure)}});
  }
  if (details.machine_hours) json["machine_hours"] = number_or_null(*details.machine_hours);
  json["argv"] = details.command ? Json(details.command->argv) : Json(nullptr);
  json["environment"] = details.command ? Json(details.command->environment) : Json(nullptr);
  json["working_directory"] =
      details.command ? Json(details.command->working_directory.string()) : Json(nullptr);
  return json;
}

Json study_json(const StudyRecord& study) {
  Json json;
  json["name"] = study.name;
  json["status"] = to_text(study.status);
  json["stop_reason"] = study.stop_reason.empty() ? Json(nullptr) : Json(study.stop_reason);
  json["seed"] = study.seed;
  json["unit"] = unit_name(study.document).plural;
  json["created"] = time_or_null(study.created_wall_s);
  json["tuning_s"] = number_or_null(study.elapsed_s);
  return json;
}

Json objectives_json(const std::vector<ObjectiveView>& objectives) {
  Json json = Json::array();
  for (const ObjectiveView& view : objectives) {
    json.push_back(
        {{"metric", view.objective.metric},
         {"direction", view.objective.direction == Direction::minimize ? "minimize" : "maximize"},
         {"unit", view.unit()}});
  }
  return json;
}

}  // namespace steptune
