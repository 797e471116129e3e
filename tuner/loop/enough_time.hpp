// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/loop/running_trial.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// How long a trial of `configuration` is expected to take from its start until it has been
/// measured as `targets` wants it, with some to spare, in seconds: for runners that cannot be told
/// to end one. Start-up, steps of warm-up and steps of the window are those that most of the former
/// trials needed; a step takes what it takes in the faster ones, by its samples. Infinite before
/// anything has been measured.
[[nodiscard]] double enough_s(const StudySpec& study, const Standing& standing,
                              const Configuration& configuration, const TrialTargets& targets);

}  // namespace steptune
