// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns a study with one parameter, `x`. The objective is the time of a planned run of a
/// thousand samples, at 3.6 USD per hour.
inline StudySpec time_study() {
  const Json document = parse_json(R"({
    "name": "s", "command": ["train", "{x}"],
    "parameters": {"x": {"type": "int", "low": 1, "high": 1000}}, "baseline": {"x": 1},
    "objectives": ["time"], "planned_run": {"samples": 1000},
    "measure": {"target_half_width": 0.02}, "runner": {"type": "local", "price_per_hour": 3.6}
  })",
                                   "study")
                            .value();
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

inline Measurement steady(double seconds_per_sample, double half_width_s = 0.0,
                          double startup_s = 0.0) {
  Measurement measurement;
  measurement.status = MeasurementStatus::steady;
  measurement.seconds_per_sample = seconds_per_sample;
  measurement.half_width_s = half_width_s;
  measurement.startup_s = startup_s;
  return measurement;
}

inline TrialRecord completed(std::int64_t number, double value, double standard_error = 0.0) {
  TrialRecord trial;
  trial.number = number;
  trial.status = TrialStatus::completed;
  trial.configuration.set("x", number);
  trial.objectives = {value};
  trial.standard_errors = {standard_error};
  return trial;
}

inline TrialRecord confirming(std::int64_t number, TrialPurpose purpose, int pair, std::int64_t x,
                              double value, double standard_error = 0.0) {
  TrialRecord trial = completed(number, value, standard_error);
  trial.purpose = purpose;
  trial.confirm_pair = pair;
  trial.configuration.set("x", x);
  return trial;
}

}  // namespace steptune
