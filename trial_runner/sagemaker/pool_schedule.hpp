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
  double since_s = 0.0;    ///< when this state began, runner's clock
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
/// (nullopt: the job cannot use a pool). `busy` contains the keys of jobs under way. At most
/// `parallel` sets of instances are held at a time, including pools, because all count against the
/// account's quota.
///
/// Rules: free warm instances are used first. Free places are shared among kinds of instances by
/// the number of trials that wait for each. Trials do not start cold if enough pools of their kind
/// are about to become available for all of them. A pool that no waiting trial can use is released
/// for a trial that needs another kind.
[[nodiscard]] PoolDecision next_pool_decision(const std::vector<std::optional<PoolKey>>& queue,
                                              const std::vector<WarmPool>& pools,
                                              const std::vector<std::optional<PoolKey>>& busy,
                                              std::size_t parallel);

}  // namespace steptune
