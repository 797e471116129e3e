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
  /// The first objective that this one is a fixed multiple of (a cost at a fixed price), if any:
  /// all shares and ratios are that one's.
  std::optional<std::size_t> follows;
};

/// Which parameters mattered for a study's objectives and for failures.
struct StudyImportance {
  std::optional<std::int64_t> baseline;  ///< trials that the ablation goes between
  std::optional<std::int64_t> best;
  std::vector<ObjectiveImportance> objectives;
  Importance failure;
  std::size_t failed = 0;  ///< failed, out of memory or against a guard
  std::size_t ended = 0;
};

/// What is concluded from all trials of a study together.
struct StudyAnalysis {
  StudyImportance importance;
  std::optional<Bottleneck> bottleneck;  ///< of the best trial; nothing where none was measured
};

/// Errors, here and below: those of `stored_spec`, of `stored_recommendation` and of the history.
[[nodiscard]] Result<StudyImportance> read_importance(const StoredStudy& study);
/// Of the trial of that number, else of the best, else of the baseline. `not_found` where the trial
/// does not exist, was not measured, or the study has none that was.
[[nodiscard]] Result<Bottleneck> read_bottleneck(const StoredStudy& study,
                                                 std::optional<std::int64_t> trial);
/// `standing`: of all trials of the study (`read_whole_standing`).
[[nodiscard]] Result<StudyAnalysis> analysis_of(const StoredStudy& study, Standing standing);

}  // namespace steptune
