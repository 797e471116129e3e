// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// The trial of the search whose configuration is to be measured again now, as others disturbed it
/// much and it may be the best all the same: it would beat the incumbent had its disturbed seconds
/// brought nothing. Null: none. It waits until a trial went undisturbed, so that a disturbance of
/// some minutes is over. Each configuration is measured again once, all of them for a tenth of the
/// search's time, and none where disturbance is usual among the latest trials. Never where the
/// first objective is no time or cost. A function of the trials alone.
[[nodiscard]] const TrialRecord* trial_to_measure_again(const StudySpec& study,
                                                        const Standing& standing);

}  // namespace steptune
