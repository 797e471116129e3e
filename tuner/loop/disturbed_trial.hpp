// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the search trial whose configuration is to be measured again now, or null. Other
/// programs disturbed this trial much, and without its disturbed seconds it would beat the
/// incumbent.
///
/// Returns null
/// - until a later trial was undisturbed, so that a disturbance of some minutes is over;
/// - if disturbance is usual among the latest trials;
/// - if the first objective is neither time nor cost;
/// - if each configuration is confirmed: then only fresh runs are compared.
///
/// Each configuration is measured again once. All repeated trials together take at most a tenth of
/// the search's time. The result depends on the trials alone.
[[nodiscard]] const TrialRecord* trial_to_measure_again(const StudySpec& study,
                                                        const Standing& standing);

}  // namespace steptune
