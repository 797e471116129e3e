// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/loop/trial_targets.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the seconds from the start of a trial of `configuration` until it is probably measured
/// as `targets` asks. Includes a margin. For runners that cannot end a trial on request. The
/// start-up is the longest of earlier trials. The numbers of warm-up steps and window steps are
/// large enough for most earlier trials. The step time is estimated from fast trials as a function
/// of their samples per step. Infinite before any trial is measured.
[[nodiscard]] double time_to_measure_s(const StudySpec& study, const Standing& standing,
                                       const Configuration& configuration,
                                       const TrialTargets& targets);

}  // namespace steptune
