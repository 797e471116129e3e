// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trial_runner/sagemaker/pool_key.hpp"

namespace steptune {

/// Instances kept after a job. The service identifies a pool by that job.
struct WarmPool {
  PoolKey key;
  std::string job;
  bool available = false;  ///< false: the job has ended, but its pool cannot be used yet
  double since_s = 0.0;    ///< start of this state, on the runner's clock
  double usd_per_hour = 0.0;
  /// Seconds for which the pool was unused before this tuner found it.
  double idle_before_s = 0.0;
};

/// Decisions about waiting trials: start a trial, release a pool, or wait (`std::monostate`).
/// Indices are positions in the queue.
struct StartTrial {
  std::size_t index = 0;
  /// Job whose instances the trial reuses; nullopt: cold start.
  std::optional<std::string> pool_job;
};
struct ReleasePool {
  std::string job;
};
using PoolDecision = std::variant<std::monostate, StartTrial, ReleasePool>;

/// Returns the next step for the waiting trials. `queue` contains their pool keys, in order
/// (nullopt: the job cannot use a pool). `busy` contains the keys of jobs under way. Jobs and pools
/// together hold at most `parallel` sets of instances, because all count against the account's
/// quota.
///
/// Rules: trials use available pools first. The next cold start goes to the kind of instances with
/// the most waiting trials per held set. Trials do not start cold if enough pools for all trials of
/// their kind will soon become available. If no waiting trial can use a pool, the pool may make
/// room for a cold start.
[[nodiscard]] PoolDecision next_pool_decision(const std::vector<std::optional<PoolKey>>& queue,
                                              const std::vector<WarmPool>& pools,
                                              const std::vector<std::optional<PoolKey>>& busy,
                                              std::size_t parallel);

}  // namespace steptune
