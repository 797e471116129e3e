// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/observation.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What the trials of `earlier` say in the terms of `study`, in their order. Parameters that
/// `earlier` did not vary stand at the baseline of `study`; those that only it varied are left out,
/// and so are trials whose configuration is then none of `study`, or whose first step was not
/// waited for as long as `study` would. An error of kind `usage` where the two minimise different
/// things.
[[nodiscard]] Result<std::vector<Observation>> translate_trials(
    const StudySpec& study, const StudySpec& earlier, const std::vector<TrialRecord>& trials);

/// The same for every study that `study.search.learn_from` names, in that order, read from
/// `history`; none for `study` itself. `not_found` with the nearest name where there is none.
/// Other errors: as above, and of a study that this version cannot read (`store`).
[[nodiscard]] Result<std::vector<std::vector<Observation>>> trials_of_earlier_studies(
    const StudySpec& study, const History& history);

}  // namespace steptune
