// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/held_machines.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// How old a job may be that still holds machines: no job lasts longer than 30 days, and its pool
/// is kept 6 h (SageMaker API Reference, StoppingCondition and ResourceConfig).
inline constexpr double k_longest_holding_s = 31.0 * 86'400.0;

/// All machines that jobs of this account and region hold, oldest job first. `prices`: of others'
/// jobs and those that do not tell theirs; null if there is no table. One request for a hundred
/// jobs of the last month, and one for each job that holds machines.
[[nodiscard]] aws::AwsResult<std::vector<HeldMachines>> find_held_machines(
    TrainingJobs& jobs, double now_wall_s, const PriceTable* prices);

/// The machines of one job; nothing if it holds none.
[[nodiscard]] std::optional<HeldMachines> held_machines(const JobDescription& state,
                                                        double now_wall_s,
                                                        const PriceTable* prices);

/// Gives the warm pools among `machines` back, waiting up to `patience_s` for those that settle.
/// Running jobs are left alone and not told of. On an error what was given back stays so.
[[nodiscard]] aws::AwsResult<std::vector<Release>> release_pools(
    TrainingJobs& jobs, std::vector<HeldMachines> machines, const Clock& clock,
    const aws::WaitUntil& wait_until, const PriceTable* prices, double patience_s = 30.0);

/// Machines of a `ResourceConfig`; members that are absent stay empty.
[[nodiscard]] Resources resources_from_json(const Json& resource_config);

}  // namespace steptune
