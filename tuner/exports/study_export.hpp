// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

/// Everything that is known of a study, for other programs.
struct StudyExport {
  StudyRecord record;
  StudySpec spec;
  Leaderboard board;                ///< all trials, whatever their state
  std::vector<TrialRecord> trials;  ///< in order of number
  std::map<std::int64_t, TrialTrace> traces;
  std::vector<SessionRecord> sessions;  ///< with the libraries that a baseline told of in each
  std::vector<StudyDecision> decisions;
  std::optional<Recommendation> recommendation;
  RecommendationContext words;  ///< for the recommendation
};

[[nodiscard]] Result<StudyExport> read_study_export(const StoredStudy& study);

/// Version of the exported JSON document (`configs/export.schema.json`); grows when a field changes
/// its meaning or goes.
inline constexpr int k_export_version = 1;

/// RFC 4180, one line per trial with every column that a leaderboard has, raw values in SI units.
[[nodiscard]] std::string csv_export(const StudyExport& study);

/// The study as it was stored, its trials with their traces, the machines, what was decided, the
/// recommendation.
/// `program_version`: of this program.
[[nodiscard]] Json json_export(const StudyExport& study, const std::string& program_version);

// The following make something new and leave what exists alone (`conflict`): it may hold the work
// of others. They appear whole or not at all. Confirming runs and sentinels are none there: they
// would be taken for better or worse ones of the search. What a trial is called here (`status`,
// `purpose`, `origin`, its number from 1) goes with it.

/// An SQLite file that Optuna 3 and its dashboard open: `sqlite:///FILE`. Trials that the scheduler
/// stopped are pruned; failed, infeasible and interrupted ones are failed, with their figures as
/// user attributes. What the scheduler looked at are intermediate values (of a single objective).
[[nodiscard]] Result<void> write_optuna_study(const StudyExport& study,
                                              const std::filesystem::path& file);

/// An experiment in MLflow's file store: `folder` is its `mlruns`, and is made if need be. Each
/// trial is a run with parameters, metrics and tags.
[[nodiscard]] Result<void> write_mlflow_experiment(const StudyExport& study,
                                                   const std::filesystem::path& folder);

}  // namespace steptune
