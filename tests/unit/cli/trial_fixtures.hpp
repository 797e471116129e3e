// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/history/history.hpp"
#include "tuner/report/objective_view.hpp"

namespace steptune {

inline ObjectiveView planned_time() {
  return {Objective{"time", Direction::minimize}, true};
}
inline ObjectiveView planned_cost() {
  return {Objective{"cost", Direction::minimize}, true};
}

inline TrialRecord make_trial(std::int64_t number, double time_s, double standard_error,
                              std::int64_t batch_size) {
  TrialRecord trial;
  trial.number = number;
  trial.origin = "sobol";
  trial.status = TrialStatus::completed;
  trial.objectives = {time_s};
  trial.standard_errors = {standard_error};
  trial.configuration.set("batch_size", batch_size);
  trial.configuration.set("precision", std::string("bf16"));
  Measurement measurement;
  measurement.status = MeasurementStatus::steady;
  measurement.seconds_per_sample = 0.002;
  measurement.half_width_s = 0.00002;
  measurement.window_steps = 100;
  measurement.window_samples = 100.0 * static_cast<double>(batch_size);
  trial.measurement = measurement;
  return trial;
}

inline StudyRecord make_study() {
  StudyRecord study;
  study.name = "demo";
  study.status = StudyStatus::finished;
  study.document = Json::parse(
      R"({"parameters": {"precision": {}, "batch_size": {}}, "objectives": ["time"],
          "planned_run": {"samples": 1e9}})");
  return study;
}

}  // namespace steptune
