// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/observation.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Translates the trials of `earlier` into observations for `study`, in their order. Parameters
/// that `earlier` did not vary get their baseline value in `study`. Parameters that only `earlier`
/// varied are left out. Skips trials whose translated configuration is outside the space of
/// `study`. Also skips trials that were ended for a slow start if `study` allows a longer start.
/// Fails with kind `usage` if the two studies have different objectives.
[[nodiscard]] Result<std::vector<Observation>> translate_trials(
    const StudySpec& study, const StudySpec& earlier, const std::vector<TrialRecord>& trials);

/// Translates the trials of every study that `study.search.learn_from` names, in that order, read
/// from `history`. Skips `study` itself. Fails with `not_found` and the nearest name if a study
/// does not exist. Fails with `store` if this version cannot read a study. Other errors come from
/// `translate_trials`.
[[nodiscard]] Result<std::vector<std::vector<Observation>>> trials_of_earlier_studies(
    const StudySpec& study, const History& history);

}  // namespace steptune
