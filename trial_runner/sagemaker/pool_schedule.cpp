// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/pool_schedule.hpp"

#include <algorithm>

namespace steptune {
namespace {

using Keys = std::vector<std::optional<PoolKey>>;

std::size_t keys_equal_to(const Keys& keys, const std::optional<PoolKey>& key) {
  return static_cast<std::size_t>(std::ranges::count(keys, key));
}

const WarmPool* find_available(const std::vector<WarmPool>& pools, const PoolKey& key) {
  // Use the pool that has been idle for the shortest time. Surplus pools then reach their idle
  // limit sooner.
  const WarmPool* best = nullptr;
  for (const WarmPool& pool : pools) {
    if (!pool.available || pool.key != key) continue;
    if (best == nullptr || pool.since_s > best->since_s) best = &pool;
  }
  return best;
}

/// True if enough pools of this kind will soon become available for all trials that wait for one.
bool is_worth_waiting(const Keys& queue, const std::vector<WarmPool>& pools,
                      const std::optional<PoolKey>& key) {
  if (!key) return false;
  const auto settling = std::ranges::count_if(
      pools, [&](const WarmPool& pool) { return !pool.available && pool.key == *key; });
  return static_cast<std::size_t>(settling) >= keys_equal_to(queue, key);
}

std::optional<std::size_t> next_cold(const Keys& queue, const std::vector<WarmPool>& pools,
                                     const Keys& busy) {
  std::optional<std::size_t> best;
  double best_share = 0.0;
  for (std::size_t index = 0; index < queue.size(); ++index) {
    const auto& key = queue[index];
    if (is_worth_waiting(queue, pools, key)) continue;
    const auto held =
        static_cast<double>(keys_equal_to(busy, key) +
                            static_cast<std::size_t>(std::ranges::count_if(
                                pools, [&](const WarmPool& pool) { return pool.key == key; })));
    const double share = static_cast<double>(keys_equal_to(queue, key)) / (1.0 + held);
    if (!best || share > best_share) {
      best = index;
      best_share = share;
    }
  }
  return best;
}

}  // namespace

PoolDecision next_pool_decision(const Keys& queue, const std::vector<WarmPool>& pools,
                                const Keys& busy, std::size_t parallel) {
  for (std::size_t index = 0; index < queue.size(); ++index) {
    if (!queue[index]) continue;
    if (const WarmPool* pool = find_available(pools, *queue[index])) {
      return StartTrial{index, pool->job};
    }
  }
  const auto cold = next_cold(queue, pools, busy);
  if (!cold) return std::monostate{};
  if (busy.size() + pools.size() < parallel) return StartTrial{*cold, std::nullopt};
  const WarmPool* oldest = nullptr;
  for (const WarmPool& pool : pools) {
    if (pool.available && (oldest == nullptr || pool.since_s < oldest->since_s)) oldest = &pool;
  }
  if (oldest != nullptr) return ReleasePool{oldest->job};
  return std::monostate{};
}

}  // namespace steptune
