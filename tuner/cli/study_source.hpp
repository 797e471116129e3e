// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// A study of the history, opened for reading.
struct StoredStudy {
  History history;
  StudyRecord record;
  std::vector<ObjectiveView> objectives;
};

/// Opens the database and finds a study by name, or by the path of its study file; an empty `name`
/// means the latest. Warnings of the history are printed.
[[nodiscard]] Result<StoredStudy> open_stored_study(const CommandContext& context,
                                                    const std::string& name);

/// Reads a study file; every fault of it, a missing file included, is of kind `usage`.
[[nodiscard]] Result<StudySpec> open_study_file(const std::string& path);

/// The validated study as it was stored with the history.
[[nodiscard]] Result<StudySpec> stored_spec(const StudyRecord& record);

/// What the loop has recommended; nothing while the study has no recommendation.
[[nodiscard]] Result<std::optional<Recommendation>> stored_recommendation(
    const StudyRecord& record);

/// The baseline's trial, if it has been recorded.
[[nodiscard]] Result<std::optional<TrialRecord>> baseline_trial(const StoredStudy& study);

[[nodiscard]] RecommendationContext recommendation_context(
    const CommandContext& context, const StudyRecord& record,
    const std::vector<ObjectiveView>& objectives);

/// The index of the objective called `metric`; an error with the nearest name if there is none.
[[nodiscard]] Result<std::size_t> objective_index(const std::vector<ObjectiveView>& objectives,
                                                  const std::string& metric);

}  // namespace steptune
