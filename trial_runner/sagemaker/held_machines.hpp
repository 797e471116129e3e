// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// What a job does with its machines.
enum class Holding {
  running,   ///< the job itself is under way
  settling,  ///< it has ended; its machines are not yet offered to others
  kept,      ///< a warm pool that waits: `Available`
};

/// Machines that a training job holds, and that cost money for it. Times are seconds since 1970.
struct HeldMachines {
  std::string job;
  std::optional<JobOwner> owner;  ///< nothing: not a job of this program
  Holding holding = Holding::running;
  std::string status;  ///< the service's word: `Training`, ..., or `Available`
  Resources resources;
  double since_wall_s = 0.0;           ///< creation of the job, or begin of the waiting
  std::optional<double> retained_s;    ///< kept so far, billed for each machine
  std::optional<double> left_s;        ///< until the pool ends by itself
  std::optional<double> usd_per_hour;  ///< of all machines, on demand; nothing: no price is known
  /// Of the job since its billing began, or of the waiting; nothing: no price is known.
  std::optional<double> usd_so_far;
};

/// How old a job may be that still holds machines: no job lasts longer than 30 days, and its pool
/// is kept 6 h (SageMaker API Reference, StoppingCondition and ResourceConfig).
inline constexpr double k_longest_holding_s = 31.0 * 86'400.0;

/// All machines that jobs of this account and region hold, oldest job first. `prices`: null if
/// there is no table. One request for a hundred jobs of the last month, and one for each job that
/// holds machines.
[[nodiscard]] aws::AwsResult<std::vector<HeldMachines>> find_held_machines(
    TrainingJobs& jobs, double now_wall_s, const PriceTable* prices);

/// The machines of one job; nothing if it holds none.
[[nodiscard]] std::optional<HeldMachines> held_machines(const JobDescription& state,
                                                        double now_wall_s,
                                                        const PriceTable* prices);

enum class ReleaseOutcome {
  released,   ///< given back
  gone,       ///< there was no pool any more: it ended, or a job took it
  not_ready,  ///< its machines did not come free in time
};

struct Release {
  HeldMachines machines;  ///< as last seen
  ReleaseOutcome outcome = ReleaseOutcome::released;
};

/// Gives the warm pools among `machines` back, waiting up to `patience_s` for those that settle.
/// Running jobs are left alone and not told of. On an error what was given back stays so.
[[nodiscard]] aws::AwsResult<std::vector<Release>> release_pools(
    TrainingJobs& jobs, std::vector<HeldMachines> machines, const Clock& clock,
    const aws::WaitUntil& wait_until, const PriceTable* prices, double patience_s = 30.0);

/// `1 ml.g5.xlarge`, `1 ml.p4d.24xlarge + 2 ml.c5.18xlarge`.
[[nodiscard]] std::string to_text(const Resources& resources);

/// Machines of a `ResourceConfig`; members that are absent stay empty.
[[nodiscard]] Resources resources_from_json(const Json& resource_config);

}  // namespace steptune
