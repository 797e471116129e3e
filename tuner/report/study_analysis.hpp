// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/analysis/ablation.hpp"
#include "tuner/analysis/bottleneck.hpp"
#include "tuner/analysis/importance.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

struct ObjectiveImportance {
  ObjectiveView view;
  Importance importance;
  AblationPath ablation;  ///< from the baseline to the best configuration
  /// Index of the first objective that this objective is a fixed multiple of, such as the time for
  /// a cost at a fixed price. Both then have equal shares and ratios. nullopt if there is no such
  /// objective.
  std::optional<std::size_t> follows;
};

/// Parameters that mattered for a study's objectives and for failures.
struct StudyImportance {
  std::optional<std::int64_t> baseline;  ///< first trial of the ablation path
  std::optional<std::int64_t> best;
  std::vector<ObjectiveImportance> objectives;
  Importance failure;
  std::size_t failed = 0;  ///< trials that failed, ran out of memory or violated a guard
  std::size_t ended = 0;
};

/// Analysis of all trials of a study together.
struct StudyAnalysis {
  StudyImportance importance;
  /// Bottleneck of the best trial; nullopt if none was measured.
  std::optional<Bottleneck> bottleneck;
};

/// Analyses the importance of parameters. Errors of this function and of those below come from
/// `stored_spec`, `stored_recommendation` and the history.
[[nodiscard]] Result<StudyImportance> read_importance(const StoredStudy& study);
/// Analyses the given trial. Without a number, analyses the best trial, or the baseline if there is
/// no best trial. Fails with `not_found` if the trial does not exist or was not measured, or if no
/// trial was measured.
[[nodiscard]] Result<Bottleneck> read_bottleneck(const StoredStudy& study,
                                                 std::optional<std::int64_t> trial);
/// Analyses the whole study. `standing` must have all its trials (`read_whole_standing`).
[[nodiscard]] Result<StudyAnalysis> analysis_of(const StoredStudy& study, Standing standing);

}  // namespace steptune
