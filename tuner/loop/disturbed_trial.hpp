// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the search trial to repeat now, or null. Other programs disturbed that trial much:
/// without its disturbed seconds, it would beat the incumbent.
///
/// Returns null
/// - if the latest trial was disturbed, too, because the disturbance may last for some minutes;
/// - if disturbance is usual among the latest trials;
/// - if the first objective is neither time nor cost;
/// - if each configuration is confirmed: then only fresh runs are compared.
///
/// Each configuration is repeated at most once. All repeated trials together take at most a tenth
/// of the search's time. The result depends only on the recorded trials, so a resumed study repeats
/// the same trials.
[[nodiscard]] const TrialRecord* trial_to_measure_again(const StudySpec& study,
                                                        const Standing& standing);

}  // namespace steptune
