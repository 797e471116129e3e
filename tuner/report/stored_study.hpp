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

/// Where studies are stored unless the user says otherwise, from the folder where a command runs.
inline constexpr const char* k_default_database = ".steptune/history.db";

/// A study of the history, opened for reading.
struct StoredStudy {
  History history;
  StudyRecord record;
  std::vector<ObjectiveView> objectives;
};

/// The study as it was stored with the history, to be read (`stored_study_from_json`). Errors
/// (`store`): this version cannot read it.
[[nodiscard]] Result<StudySpec> stored_spec(const StudyRecord& record);
/// The same, validated anew, to be run.
[[nodiscard]] Result<StudySpec> checked_stored_spec(const StudyRecord& record);

/// The facts of the machine that a stored study was begun with.
[[nodiscard]] Facts stored_facts(const StudyRecord& record);

/// What the loop has recommended; nothing while the study has no recommendation. Errors as
/// `recommendation_from_json`.
[[nodiscard]] Result<std::optional<Recommendation>> stored_recommendation(
    const StudyRecord& record);

/// The standing of all trials of a stored study. Errors, here and below, are the history's.
[[nodiscard]] Result<Standing> read_whole_standing(const StoredStudy& study,
                                                   std::size_t ranked_by = 0);
/// The standing of a stored study. Ranked by the first objective it reads what decides and no more
/// (`History::standing_trials`), however many trials there are; by another one, all of them.
[[nodiscard]] Result<Standing> read_standing(const StoredStudy& study, std::size_t ranked_by = 0);

/// The index of the objective called `metric`; an error with the nearest name if there is none.
[[nodiscard]] Result<std::size_t> objective_index(const std::vector<ObjectiveView>& objectives,
                                                  const std::string& metric);

}  // namespace steptune
