// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/loop/running_trial.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// From when on a trial of `configuration` is clearly slower than the incumbent whatever the rest
/// of it shows, for runners that cannot be told to end one: where steps alone take the planned run
/// half as long again as the incumbent's whole one (`targets.to_beat`), or cost that much more. Not
/// looked at before the longest warm-up so far that a steady state followed is over. Nothing where
/// there is no incumbent, or where the study compares by more than one of time and cost.
[[nodiscard]] std::optional<SlowLimit> slow_limit(const StudySpec& study, const Standing& standing,
                                                  const Configuration& configuration,
                                                  const TrialTargets& targets);

}  // namespace steptune
