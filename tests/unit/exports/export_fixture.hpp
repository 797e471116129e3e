// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/unit/search/spaces.hpp"
#include "tuner/exports/study_export.hpp"
#include "tuner/exports/study_import.hpp"

namespace steptune::testing {

/// Returns a study of `space` that minimises `metrics`, with a baseline drawn from the space.
inline StudySpec spec_of(SearchSpace space, const std::vector<std::string>& metrics = {"time"}) {
  StudySpec spec;
  spec.name = "demo";
  spec.space = std::move(space);
  Rng rng(1, "baseline");
  spec.baseline = spec.space.sample(rng).value();
  for (const std::string& metric : metrics)
    spec.objectives.push_back({metric, Direction::minimize});
  return spec;
}

/// Returns the export of a study without trials.
inline StudyExport export_of(const StudySpec& spec) {
  StudyExport study;
  study.record.name = spec.name;
  study.record.fingerprint = "f1";
  study.spec = spec;
  for (const Objective& objective : spec.objectives)
    study.board.objectives.push_back({objective, false});
  return study;
}

inline TrialRecord completed_trial(std::int64_t number, Configuration configuration,
                                   std::vector<double> objectives) {
  TrialRecord trial;
  trial.number = number;
  trial.origin = "sobol";
  trial.status = TrialStatus::completed;
  trial.configuration = std::move(configuration);
  trial.objectives = std::move(objectives);
  trial.standard_errors.assign(trial.objectives.size(), 0.01);
  return trial;
}

/// Returns one row of a table, as text.
inline ForeignTrial row_of(const std::map<std::string, Json>& cells) {
  ForeignTrial row;
  row.cells = cells;
  return row;
}

}  // namespace steptune::testing
