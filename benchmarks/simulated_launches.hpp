// SPDX-License-Identifier: Apache-2.0
// Simulated launches of two commands that `judge` compares.
#pragma once

#include <cmath>
#include <deque>

#include "common/json.hpp"
#include "common/rng.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns a study of two commands as `judge` writes it, with its default margin.
inline const StudySpec& judged_study() {
  static const StudySpec k_study = [] {
    const Json document = parse_json(R"({
      "name": "judge", "command": ["{command}"],
      "parameters": {"command": {"type": "categorical", "choices": {"A": "./a", "B": "./b"}}},
      "baseline": {"command": "A"},
      "search": {"searcher": "grid", "scheduler": "none", "worth": 0.02},
      "budget": {"time": "5m"}, "measure": {"confirm_all": true}, "runner": {"type": "local"}
    })",
                                     "study")
                              .value();
    return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
  }();
  return k_study;
}

/// Makes records of launches whose times vary. Variations are standard deviations of a time's
/// logarithm.
class SimulatedLaunches {
 public:
  SimulatedLaunches(double launch_variation, double run_variation)
      : launch_variation_(launch_variation), run_variation_(run_variation) {}

  /// Returns a launch with the mean time `mean`. The record lives as long as this object.
  const TrialRecord* run(double mean, Rng& rng) {
    TrialRecord& trial = runs_.emplace_back();
    const double log_time = launch_variation_ * rng.normal() + run_variation_ * rng.normal();
    trial.status = TrialStatus::completed;
    trial.objectives = {mean * std::exp(log_time)};
    trial.standard_errors = {run_variation_ * trial.objectives[0]};
    return &trial;
  }

 private:
  double launch_variation_;
  double run_variation_;
  std::deque<TrialRecord> runs_;
};

}  // namespace steptune
