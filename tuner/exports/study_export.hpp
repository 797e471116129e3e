// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {

/// All data of a study, for other programs.
struct StudyExport : StudyContents {
  StudyRecord record;
  StudySpec spec;
  std::vector<TrialRecord> trials;  ///< in order of number
  std::map<std::int64_t, TrialTrace> traces;
};

/// Reads a study for an export. `words` is the result of `study_context`.
[[nodiscard]] Result<StudyExport> read_study_export(const StoredStudy& study,
                                                    RecommendationContext words);

/// Version of the exported JSON document (`configs/export.schema.json`). Increases if a field
/// changes its meaning or is removed.
inline constexpr int k_export_version = 1;

/// Returns CSV (RFC 4180): one line for each trial with every column of a leaderboard, raw values
/// in SI units.
[[nodiscard]] std::string csv_export(const StudyExport& study);

/// Returns the stored study, its trials with traces, the machines, the decisions and the
/// recommendation. `program_version` is this program's.
[[nodiscard]] Json json_export(const StudyExport& study, const std::string& program_version);

// The functions below write new files only. They return `conflict` if the target exists, because it
// may contain the user's work. A file appears completely or not at all. Files contain no confirming
// runs and no sentinels, because other programs would take them for trials of the search. Each
// exported trial has Steptune's `status`, `purpose` and `origin`, and its number, counted from 1.

/// Writes an SQLite file that Optuna 3 and its dashboard open: `sqlite:///FILE`. Trials that were
/// stopped early get Optuna's state PRUNED. Trials that failed, ran out of memory, are infeasible,
/// were interrupted or lack an objective's value get the state FAIL. Steptune's further figures of
/// a trial become user attributes. If there is a single objective, the estimates that the scheduler
/// saw become intermediate values.
[[nodiscard]] Result<void> write_optuna_study(const StudyExport& study,
                                              const std::filesystem::path& file);

/// Writes an experiment into MLflow's file store. `folder` is the store's folder `mlruns`. Creates
/// this folder if it is missing. Each trial is a run with parameters, metrics and tags.
[[nodiscard]] Result<void> write_mlflow_experiment(const StudyExport& study,
                                                   const std::filesystem::path& folder);

}  // namespace steptune
