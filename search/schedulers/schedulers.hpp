// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "search/scheduler.hpp"

namespace steptune {

/// Asynchronous successive halving, stopping variant (Li et al. 2020). The rungs are at
/// `min_resource * eta^k`, all below `max_resource`. Each rung records the values of every trial
/// that reaches it. A trial stops if even the lower ends of its intervals do not rank among the
/// best 1/eta of its rung. While a rung has fewer than 2 `eta` trials, only the best of them
/// continues, as in Optuna. If the interval is too wide to decide, the trial continues and is
/// judged again at each estimate. With several objectives, `rank_among` ranks trials.
[[nodiscard]] std::unique_ptr<Scheduler> make_asha_scheduler(const SchedulerOptions& options);

/// Stops a trial whose intervals are wholly above those of another trial, in every objective.
[[nodiscard]] std::unique_ptr<Scheduler> make_racing_scheduler();

/// Median rule (Golovin et al. 2017). Stops a trial whose interval is wholly above the median of
/// other trials at the same resource. Needs at least three other trials and a resource of at least
/// `min_resource`. With several objectives, the interval must be above the median for each.
[[nodiscard]] std::unique_ptr<Scheduler> make_median_scheduler(const SchedulerOptions& options);

}  // namespace steptune
