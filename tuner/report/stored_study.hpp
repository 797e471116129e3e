// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Default database, relative to the folder where a command runs.
inline constexpr const char* k_default_database = ".steptune/history.db";

/// A study of the history, opened for reading.
struct StoredStudy {
  History history;
  StudyRecord record;
  std::vector<ObjectiveView> objectives;
};

/// Returns a study with the views of its objectives. `history` must be the history of `record`.
[[nodiscard]] StoredStudy stored_study(History history, StudyRecord record);

/// Reads the study as stored in the history (`stored_study_from_json`), for reading only. Errors
/// (`store`): this version cannot read it.
[[nodiscard]] Result<StudySpec> stored_spec(const StudyRecord& record);
/// Reads and validates the stored study, to run it.
[[nodiscard]] Result<StudySpec> checked_stored_spec(const StudyRecord& record);

/// Returns the facts of the machine on which a stored study was started.
[[nodiscard]] Facts stored_facts(const StudyRecord& record);

/// Returns the loop's recommendation; nullopt if the study has none. Errors are those of
/// `recommendation_from_json`.
[[nodiscard]] Result<std::optional<Recommendation>> stored_recommendation(
    const StudyRecord& record);

/// Reads the standing of all trials of a stored study. Here and below, errors come from the
/// history.
[[nodiscard]] Result<Standing> read_whole_standing(const StoredStudy& study,
                                                   std::size_t ranked_by = 0);
/// Reads the standing of a stored study. If ranked by the first objective, reads only the trials
/// that decide the ranking (`History::standing_trials`). If ranked by another objective, or if the
/// machine drifted, reads all trials.
[[nodiscard]] Result<Standing> read_standing(const StoredStudy& study, std::size_t ranked_by = 0);

/// Returns the index of the objective named `metric`. The error suggests the nearest name.
[[nodiscard]] Result<std::size_t> objective_index(const std::vector<ObjectiveView>& objectives,
                                                  const std::string& metric);

}  // namespace steptune
