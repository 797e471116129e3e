// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/loop/trial_targets.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the seconds per sample above which a trial of `configuration` is clearly slower than the
/// incumbent. Runners that cannot end a trial on request use this limit.
///
/// At the limit, the steps alone take or cost 1.5 times as much as the incumbent's planned run
/// (`targets.to_beat`). The first check comes after the longest warm-up of all earlier steady
/// trials. Returns nullopt without an incumbent, or unless time or cost is the only objective.
[[nodiscard]] std::optional<SlowLimit> slow_limit(const StudySpec& study, const Standing& standing,
                                                  const Configuration& configuration,
                                                  const TrialTargets& targets);

}  // namespace steptune
