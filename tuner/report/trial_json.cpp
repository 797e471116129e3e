// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_json.hpp"

#include "common/numbers.hpp"
#include "tuner/history/named_members.hpp"
#include "tuner/history/names.hpp"
#include "tuner/report/format.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

template <>
struct JsonForm<TrialPurpose> : JsonNames<k_trial_purpose_names> {};
template <>
struct JsonForm<TrialStatus> : JsonNames<k_trial_status_names> {};
template <>
struct JsonForm<StudyStatus> : JsonNames<k_study_status_names> {};

/// Time in seconds since 1970; 0: not known.
struct WallTime {
  double s = 0.0;
};
template <>
struct JsonForm<WallTime> {
  static Json write(WallTime time) { return time.s > 0.0 ? Json(format_utc(time.s)) : Json(); }
  static Json schema() { return {{"type", {"string", "null"}}, {"format", "date-time"}}; }
};

/// Disturbance of a trial, as `--json` shows it.
struct ShownDisturbance {
  double other_load = 0.0;
  double steal = 0.0;
  double seconds = 0.0;
};
/// A value of an objective in a trial.
struct MeasuredObjective {
  std::string metric;
  double value = k_nan;
  double half_width_95 = k_nan;
  std::string unit;
};

template <>
const JsonRecord<ShownDisturbance>& json_record<ShownDisturbance>() {
  static const auto record = JsonRecord<ShownDisturbance>()
                                 .field("other_load", &ShownDisturbance::other_load)
                                 .field("steal", &ShownDisturbance::steal)
                                 .field("seconds", &ShownDisturbance::seconds);
  return record;
}

template <>
const JsonRecord<MeasuredObjective>& json_record<MeasuredObjective>() {
  static const auto record = JsonRecord<MeasuredObjective>()
                                 .field("metric", &MeasuredObjective::metric)
                                 .field("value", &MeasuredObjective::value)
                                 .field("half_width_95", &MeasuredObjective::half_width_95)
                                 .field("unit", &MeasuredObjective::unit);
  return record;
}

template <>
const JsonRecord<CpuClock>& json_record<CpuClock>() {
  static const auto record = JsonRecord<CpuClock>().numbers(k_cpu_clock_numbers);
  return record;
}

template <>
const JsonRecord<GpuUse>& json_record<GpuUse>() {
  static const auto record = JsonRecord<GpuUse>()
                                 .field("other_processes", &GpuUse::most_other_processes)
                                 .numbers(k_gpu_use_numbers);
  return record;
}

template <>
const JsonRecord<PhaseEstimate>& json_record<PhaseEstimate>() {
  static const auto record = JsonRecord<PhaseEstimate>().numbers(k_phase_numbers);
  return record;
}

template <>
const JsonRecord<MachineFigureChange>& json_record<MachineFigureChange>() {
  using M = MachineFigureChange;
  static const auto record =
      JsonRecord<M>()
          .computed(
              "figure", [](const M& change) { return std::string(change.figure); },
              "other_load, steal, memory_pressure, storage_pressure, quota_wait, cpu_clock_hz or "
              "gpu_clock_hz: a mean in Hz, or a share")
          .numbers(k_machine_change_numbers);
  return record;
}

template <>
const JsonRecord<LevelChange>& json_record<LevelChange>() {
  static const auto record = JsonRecord<LevelChange>()
                                 .numbers(k_level_change_numbers)
                                 .field("machine", &LevelChange::machine,
                                        "A change on the machine at that time that may explain it");
  return record;
}

template <>
const JsonRecord<Measurement>& json_record<Measurement>() {
  using M = Measurement;
  static const auto record =
      JsonRecord<M>()
          .computed("status", [](const M& measured) { return to_text(measured.status); })
          .field("seconds_per_sample", &M::seconds_per_sample)
          .field("half_width_95_s", &M::half_width_s)
          .computed("samples_per_second",
                    [](const M& measured) { return 1.0 / measured.seconds_per_sample; })
          .field("step_seconds_per_sample", &M::step_seconds_per_sample)
          .field("step_half_width_95_s", &M::step_half_width_s)
          .field("slowest_seconds_per_sample", &M::slowest_seconds_per_sample)
          .field("startup_s", &M::startup_s)
          .field("warmup_s", &M::warmup_s)
          .field("warmup_excess_s", &M::warmup_excess_s)
          .field("window_s", &M::window_s)
          .field("window_steps", &M::window_steps)
          .field("window_samples", &M::window_samples)
          .field("total_samples", &M::total_samples)
          .field("whole_run", &M::whole_run)
          .field("samples_reported", &M::samples_reported)
          .field("steps_known", &M::steps_known)
          .field("phases", &M::phases)
          .field("level_changes", &M::level_changes,
                 "Lasting changes of the rate. ratio: seconds per sample after it to those before")
          .text_or_null("remark", &M::remark)
          .field("metrics", &M::metrics, "Reported metrics by name")
          .field("metric_errors", &M::metric_errors,
                 "Standard errors of the metrics that guards judged, by name")
          .field("parts_s_per_sample", &M::parts, "Parts of a step by name");
  return record;
}

namespace {

std::optional<int> shown_pair(const TrialRecord& trial) {
  return trial.confirm_pair > 0 ? std::optional(trial.confirm_pair) : std::nullopt;
}

std::optional<ShownDisturbance> shown_disturbance(const TrialRecord& trial) {
  if (!trial.disturbance) return std::nullopt;
  return ShownDisturbance{trial.disturbance->other_load, trial.disturbance->steal,
                          trial.disturbed_s};
}

std::optional<std::string> shown_log(const TrialRecord& trial) {
  if (trial.log_path.empty()) return std::nullopt;
  return trial.log_path.string();
}

std::vector<MeasuredObjective> measured_objectives(const TrialRecord& trial,
                                                   const std::vector<ObjectiveView>& objectives) {
  std::vector<MeasuredObjective> values;
  for (std::size_t i = 0; i < trial.objectives.size() && i < objectives.size(); ++i) {
    const double half_width = half_width_95(trial, i);
    values.push_back({objectives[i].objective.metric, trial.objectives[i],
                      half_width > 0.0 ? half_width : k_nan, objectives[i].unit()});
  }
  return values;
}

}  // namespace

template <>
const JsonRecord<TrialRecord>& json_record<TrialRecord>() {
  using T = TrialRecord;
  static const auto record =
      JsonRecord<T>("trial")
          .field("number", &T::number)
          .field("status", &T::status)
          .field("purpose", &T::purpose)
          .computed("confirm_pair", shown_pair)
          .field("origin", &T::origin, "Its proposer: baseline, try, sobol, bayes ...")
          .field("attempt", &T::attempt)
          .field("configuration", &T::configuration)
          // `trial_json` sets the values, because only the study has the objectives' names.
          .computed("objectives", [](const T& trial) { return measured_objectives(trial, {}); })
          .field("measurement", &T::measurement)
          .computed("started", [](const T& trial) { return WallTime{trial.started_wall_s}; })
          .computed("ended", [](const T& trial) { return WallTime{trial.ended_wall_s}; })
          .field("spent_s", &T::spent_s)
          .field("spent_usd", &T::spent_usd)
          .field("peak_memory_bytes", &T::peak_memory_bytes)
          .field("cpu_busy_share", &T::cpu_busy)
          .field("cpu_clock", &T::cpu_clock,
                 "Clock of busy CPUs in the measured window: mean, and the slowest second")
          .field("gpu", &T::gpu)
          .field("storage_read_bytes", &T::storage_read_bytes)
          .computed("disturbance", shown_disturbance)
          .field("expected_improvement", &T::expected_improvement)
          .text_or_null("failure", &T::failure)
          .field("placement", &T::placement)
          .computed("log", shown_log);
  return record;
}

template <>
const JsonRecord<AttemptRecord>& json_record<AttemptRecord>() {
  using A = AttemptRecord;
  static const auto record =
      JsonRecord<A>()
          .field("attempt", &A::attempt)
          .field("status", &A::status)
          .computed("started", [](const A& attempt) { return WallTime{attempt.started_wall_s}; })
          .computed("ended", [](const A& attempt) { return WallTime{attempt.ended_wall_s}; })
          .field("spent_s", &A::spent_s)
          .field("spent_usd", &A::spent_usd)
          .text_or_null("failure", &A::failure);
  return record;
}

template <>
const JsonRecord<StudyRecord>& json_record<StudyRecord>() {
  using S = StudyRecord;
  static const auto record =
      JsonRecord<S>("study")
          .field("name", &S::name)
          .field("status", &S::status)
          .text_or_null("stop_reason", &S::stop_reason)
          .field("seed", &S::seed)
          .computed(
              "unit", [](const S& study) { return unit_name(study.document).plural; },
              "Unit that the study counts; it replaces samples in keys that say samples")
          .computed("created", [](const S& study) { return WallTime{study.created_wall_s}; })
          .field("tuning_s", &S::elapsed_s);
  return record;
}

Json document_json(const Json& members) {
  Json json{{"schema_version", k_json_schema_version}};
  json.update(members);
  return json;
}

Json trial_json(const TrialRecord& trial, const std::vector<ObjectiveView>& objectives) {
  Json json = json_of(trial);
  json["objectives"] = json_of(measured_objectives(trial, objectives));
  return json;
}

Json details_json(const TrialDetails& details) {
  Json json;
  json["trace"] = details.trace ? to_json(*details.trace) : Json(nullptr);
  json["attempts"] = json_of(details.attempts);
  if (details.machine_hours) json["machine_hours"] = json_of(*details.machine_hours);
  json["argv"] = details.command ? Json(details.command->argv) : Json(nullptr);
  json["environment"] = details.command ? Json(details.command->environment) : Json(nullptr);
  json["working_directory"] =
      details.command ? Json(details.command->working_directory.string()) : Json(nullptr);
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
