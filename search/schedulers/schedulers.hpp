// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "search/scheduler.hpp"

namespace steptune {

/// Asynchronous successive halving, stopping variant (Li et al. 2020), over rungs at `min_resource
/// * eta^k`, all below `max_resource`. Each trial is recorded at the rungs that it passes, with
/// what it then measured. A trial stops when even the lower ends of its intervals do not rank among
/// the best 1/eta of its rung (at least one: of the first few trials only the best goes on, as in
/// Optuna). While the interval is too wide to tell, the trial goes on and the question stays open
/// until it passes the next rung. Two objectives: see `rank_among`.
[[nodiscard]] std::unique_ptr<Scheduler> make_asha_scheduler(const SchedulerOptions& options);

/// Stops a trial whose intervals lie wholly above those of some other trial, in every objective.
[[nodiscard]] std::unique_ptr<Scheduler> make_racing_scheduler();

/// Median rule (Golovin et al. 2017): from `min_resource` on, stops a trial whose interval lies
/// wholly above the median of what at least three others had measured at the same resource; with
/// several objectives, in every one of them.
[[nodiscard]] std::unique_ptr<Scheduler> make_median_scheduler(const SchedulerOptions& options);

}  // namespace steptune
