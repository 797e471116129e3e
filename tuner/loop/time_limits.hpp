// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Returns when the next time limit of a running trial is reached, on the loop's clock; infinite if
/// never. All limits but the budget's move with pauses, and do not apply during a pause.
[[nodiscard]] double next_limit_s(const TrialView& trial);

/// Returns the limit that is reached at `now_s`: `slow_start`, `silent`, `time_limit` or `budget`.
/// Returns nullopt before `next_limit_s`.
[[nodiscard]] std::optional<TrialEndCause> reached_limit(const TrialView& trial, double now_s);

/// Returns the time at which a trial with reports is ended, before the runner's wall limit makes it
/// a failure. Infinite before any report. Without pauses.
[[nodiscard]] double before_wall_s(const TrialView& trial);

}  // namespace steptune
