// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tuner/exports/event_file.hpp"
#include "tuner/exports/study_export.hpp"
#include "tuner/exports/tensorboard.pb.h"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_experiment_tag = "_hparams_/experiment";
constexpr const char* k_session_start_tag = "_hparams_/session_start_info";
constexpr const char* k_session_end_tag = "_hparams_/session_end_info";

/// Seconds of training between two points of the curve over which a pace is told.
constexpr double k_least_pace_s = 1e-6;

tensorboard::HyperparameterValue hyperparameter_value(const Value& value) {
  tensorboard::HyperparameterValue result;
  if (const auto* flag = std::get_if<bool>(&value)) {
    result.set_flag(*flag);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    result.set_number(static_cast<double>(*integer));
  } else if (const auto* number = std::get_if<double>(&value)) {
    result.set_number(*number);
  } else {
    result.set_text(std::get<std::string>(value));
  }
  return result;
}

tensorboard::HyperparameterType type_of(const tensorboard::HyperparameterValue& value) {
  switch (value.kind_case()) {
    case tensorboard::HyperparameterValue::kFlag:
      return tensorboard::BOOL;
    case tensorboard::HyperparameterValue::kNumber:
      return tensorboard::FLOAT64;
    case tensorboard::HyperparameterValue::kText:
      return tensorboard::STRING;
    case tensorboard::HyperparameterValue::KIND_NOT_SET:
      break;
  }
  return tensorboard::UNSET;
}

tensorboard::SessionStatus status_of(TrialStatus status) {
  switch (status) {
    case TrialStatus::launching:
    case TrialStatus::running:
      return tensorboard::RUNNING;
    case TrialStatus::completed:
    case TrialStatus::stopped_early:
      return tensorboard::SUCCESS;
    case TrialStatus::infeasible:
    case TrialStatus::failed:
    case TrialStatus::out_of_memory:
      return tensorboard::FAILURE;
    case TrialStatus::interrupted:
      break;
  }
  return tensorboard::UNKNOWN;
}

/// The figures of a trial by the names of their curves.
std::map<std::string, double> metrics_of(const TrialRecord& trial, const StudyExport& study) {
  std::map<std::string, double> metrics;
  if (trial.measurement) {
    metrics = trial.measurement->metrics;
    metrics["seconds_per_sample"] = trial.measurement->seconds_per_sample;
    metrics["startup_s"] = trial.measurement->startup_s;
  }
  const auto& objectives = study.board.objectives;
  for (std::size_t i = 0; i < trial.objectives.size() && i < objectives.size(); ++i)
    metrics[objectives[i].objective.metric] = trial.objectives[i];
  metrics["spent_s"] = trial.spent_s;
  metrics["spent_usd"] = trial.spent_usd;
  std::erase_if(metrics, [](const auto& metric) {
    return metric.first.empty() || !std::isfinite(metric.second);
  });
  return metrics;
}

/// What the plugin shows columns for: the parameters, and the figures that any trial has.
std::string experiment_of(const StudyExport& study) {
  tensorboard::HyperparameterData data;
  tensorboard::Experiment& experiment = *data.mutable_experiment();
  experiment.set_description(study.record.name);
  experiment.set_created_s(study.record.created_wall_s);
  std::map<std::string, tensorboard::HyperparameterType> parameters;
  std::map<std::string, double> metrics;
  for (const TrialRecord& trial : study.trials) {
    if (!is_compared(trial.purpose)) continue;
    for (const auto& [name, value] : trial.configuration.values())
      parameters.emplace(name, type_of(hyperparameter_value(value)));
    metrics.merge(metrics_of(trial, study));
  }
  for (const auto& [name, type] : parameters) {
    tensorboard::HyperparameterInfo* info = experiment.add_hyperparameters();
    info->set_name(name);
    info->set_type(type);
  }
  for (const auto& [name, value] : metrics)
    experiment.add_metrics()->mutable_name()->set_tag(name);
  return data.SerializeAsString();
}

/// Maps in order of their keys: the same study gives the same files.
std::string in_order(const tensorboard::HyperparameterData& data) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  data.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

std::string session_start(const TrialRecord& trial) {
  tensorboard::HyperparameterData data;
  tensorboard::SessionStart& start = *data.mutable_session_start();
  for (const auto& [name, value] : trial.configuration.values())
    (*start.mutable_values())[name] = hyperparameter_value(value);
  start.set_group_name(fmt::format("trial-{}", trial.number));
  start.set_started_s(trial.started_wall_s);
  return in_order(data);
}

std::string session_end(const TrialRecord& trial) {
  tensorboard::HyperparameterData data;
  data.mutable_session_end()->set_status(status_of(trial.status));
  data.mutable_session_end()->set_ended_s(trial.ended_wall_s);
  return data.SerializeAsString();
}

/// The pace between each two points of the trial's trace.
void write_pace(EventFile& file, const TrialRecord& trial, const TrialTrace& trace) {
  const auto& points = trace.progress.points;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double seconds = points[i].at_s - points[i - 1].at_s;
    const double samples = points[i].samples - points[i - 1].samples;
    if (!(seconds > k_least_pace_s) || !std::isfinite(samples)) continue;
    file.add_scalar("samples_per_second", trial.started_wall_s + points[i].at_s,
                    std::llround(points[i].steps), samples / seconds);
  }
}

void write_trial(const TrialRecord& trial, const StudyExport& study, const fs::path& folder) {
  EventFile file(folder / fmt::format("trial-{}", trial.number), trial.started_wall_s);
  file.add_hyperparameters(k_session_start_tag, trial.started_wall_s, session_start(trial));
  std::int64_t steps = 0;
  if (const auto trace = study.traces.find(trial.number); trace != study.traces.end()) {
    write_pace(file, trial, trace->second);
    const auto& points = trace->second.progress.points;
    if (!points.empty()) steps = std::llround(points.back().steps);
  }
  for (const auto& [name, value] : metrics_of(trial, study))
    file.add_scalar(name, trial.ended_wall_s, steps, value);
  if (is_final(trial.status)) {
    file.add_hyperparameters(k_session_end_tag, trial.ended_wall_s, session_end(trial));
  }
  file.close();
}

}  // namespace

Result<void> write_tensorboard_logs(const StudyExport& study, const fs::path& folder) {
  if (!is_file_name(study.record.name)) {
    return fail(ErrorKind::unavailable, "the study's name cannot be that of a folder",
                printable_line(study.record.name), "export it as csv, json, optuna or mlflow");
  }
  std::error_code fault;
  fs::path part;
  try {
    const fs::path place = fs::absolute(folder) / study.record.name;
    if (fs::exists(fs::symlink_status(place))) {
      return fail(ErrorKind::conflict, "the study was exported to this place before",
                  place.string(), "remove that folder, or name another one");
    }
    part = fs::absolute(folder) / fmt::format(".{}.{}.part", study.record.name, ::getpid());
    EventFile experiment(part, study.record.created_wall_s);
    experiment.add_hyperparameters(k_experiment_tag, study.record.created_wall_s,
                                   experiment_of(study));
    experiment.close();
    for (const TrialRecord& trial : study.trials) {
      if (is_compared(trial.purpose)) write_trial(trial, study, part);
    }
    fs::rename(part, place);
    return {};
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(part, fault);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot be written: {}", error.code().message()),
                error.path1().string());
  }
}

}  // namespace steptune
