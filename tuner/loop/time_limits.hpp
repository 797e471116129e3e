// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Returns when the next time limit of a running trial is reached, on the loop's clock; infinite if
/// never. Pauses delay all limits except the budget's limit. During a pause, only the budget's
/// limit applies.
[[nodiscard]] double next_limit_s(const TrialView& trial);

/// Returns the limit that is reached at `now_s`: `slow_start`, `silent`, `time_limit` or `budget`.
/// Returns nullopt before `next_limit_s`.
[[nodiscard]] std::optional<TrialEndCause> reached_limit(const TrialView& trial, double now_s);

/// Returns when the loop ends a trial that has reported progress. This is before the runner's wall
/// limit, which would make the trial a failure. Infinite before any progress. On the loop's clock
/// without pauses.
[[nodiscard]] double before_wall_s(const TrialView& trial);

}  // namespace steptune
