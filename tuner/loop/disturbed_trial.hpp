// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/loop/standing.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The trial of the search whose configuration is to be measured again now, as others used the
/// machine meanwhile and it may be the best all the same; null: none. That is so for one that was
/// disturbed for a fifth of its time or more, where it would beat the incumbent had its disturbed
/// seconds brought nothing. It waits until a trial went undisturbed, so that a disturbance of some
/// minutes is over. Each configuration is measured again once, all of them for a tenth of the
/// search's time, and none where a third of the latest trials are disturbed: such a machine is as
/// it is. Never where the first objective is no time or cost. A function of the trials alone.
[[nodiscard]] const TrialRecord* trial_to_measure_again(const StudySpec& study,
                                                        const Standing& standing);

}  // namespace steptune
