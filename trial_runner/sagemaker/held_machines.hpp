// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/clock.hpp"
#include "common/units.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/held_machines.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// Greatest age of a job that still holds machines. It covers the longest job, its pool, and days
/// to start and to upload the output.
inline constexpr double k_longest_holding_s = 31.0 * k_day_s;
static_assert(k_longest_holding_s > k_longest_job_s + k_longest_keep_alive_s);

/// Returns all machines that jobs of this account and region hold, oldest job first. `prices` gives
/// the price of jobs that do not contain it (`JobPrice`); null without a price table. Makes one
/// request per hundred jobs of the last month, and one per job that holds machines.
[[nodiscard]] aws::AwsResult<std::vector<HeldMachines>> find_held_machines(
    TrainingJobs& jobs, double now_wall_s, const PriceTable* prices);

/// Returns the machines of one job; nullopt if it holds none.
[[nodiscard]] std::optional<HeldMachines> held_machines(const JobDescription& state,
                                                        double now_wall_s,
                                                        const PriceTable* prices);

/// Releases the warm pools among `machines`. Waits up to `patience_s` for pools that cannot be
/// released yet (`Holding::settling`). Skips running jobs. After an error, pools that were released
/// before stay released.
[[nodiscard]] aws::AwsResult<std::vector<Release>> release_pools(
    TrainingJobs& jobs, std::vector<HeldMachines> machines, const Clock& clock,
    const aws::WaitUntil& wait_until, const PriceTable* prices, double patience_s = 30.0);

/// Reads the machines of a `ResourceConfig`; absent members stay empty.
[[nodiscard]] Resources resources_from_json(const Json& resource_config);

}  // namespace steptune
