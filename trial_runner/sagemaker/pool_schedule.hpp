// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trial_runner/sagemaker/pool_key.hpp"

namespace steptune {

/// Instances that an ended job has left behind. The service knows a pool by that job only.
struct WarmPool {
  PoolKey key;
  std::string job;
  bool available = false;  ///< false: the job has ended, but the pool is not known to be usable yet
  double since_s = 0.0;    ///< in this state, runner's clock
  double usd_per_hour = 0.0;
};

/// What is to be done about the trials that wait. Indices are those of the queue.
struct StartTrial {
  std::size_t index = 0;
  std::optional<std::string> pool_job;  ///< on the instances of this job; nothing: cold
};
struct ReleasePool {
  std::string job;
};
using PoolDecision = std::variant<std::monostate, StartTrial, ReleasePool>;

/// The next step for trials that wait, given by their pool keys in order (nothing: a job that can
/// use no pool). `busy` holds the keys of jobs under way. At most `parallel` sets of instances are
/// held at a time, kept ones included, as they all count against the account's quota.
///
/// A trial goes onto instances that are warm and free before any other; free places are shared out
/// by how many trials wait for each kind of instances; a trial does not start cold while a pool of
/// its kind is about to come free; what no waiting trial can use makes room for one that needs
/// another kind.
[[nodiscard]] PoolDecision next_pool_decision(const std::vector<std::optional<PoolKey>>& queue,
                                              const std::vector<WarmPool>& pools,
                                              const std::vector<std::optional<PoolKey>>& busy,
                                              std::size_t parallel);

}  // namespace steptune
