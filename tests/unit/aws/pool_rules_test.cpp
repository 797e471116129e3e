// SPDX-License-Identifier: Apache-2.0
//
// Rules for every decision about warm pools, in random scenes of waiting trials, running jobs and
// pools.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/pool_schedule.hpp"

namespace steptune {
namespace {

struct PoolScene {
  std::vector<std::optional<PoolKey>> queue;
  std::vector<WarmPool> pools;
  std::vector<std::optional<PoolKey>> busy;
  std::size_t parallel = 1;

  explicit PoolScene(std::uint64_t seed) {
    Rng rng(seed, "pool_rules");
    const auto any_key = [&]() -> std::optional<PoolKey> {
      if (rng.below(8) == 0) return std::nullopt;
      PoolKey key;
      key.instance_type = std::string(1, static_cast<char>('a' + rng.below(3)));
      return key;
    };
    for (std::uint64_t left = rng.below(6); left > 0; --left)
      queue.push_back(any_key());
    parallel = 1 + rng.below(5);
    std::size_t room = parallel;
    for (std::uint64_t left = rng.below(4); left > 0 && room > 0; --left, --room)
      busy.push_back(any_key());
    for (std::uint64_t left = rng.below(4); left > 0 && room > 0; --left, --room) {
      PoolKey key;
      key.instance_type = std::string(1, static_cast<char>('a' + rng.below(3)));
      pools.push_back(
          {key, fmt::format("job{}", left), rng.below(2) == 0, 10.0 * rng.uniform(), 1.0});
    }
  }
  [[nodiscard]] PoolDecision decision() const {
    return next_pool_decision(queue, pools, busy, parallel);
  }
  [[nodiscard]] const WarmPool* pool_of(const std::string& job) const {
    const auto found = std::ranges::find(pools, job, &WarmPool::job);
    return found == pools.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool waits_for(const PoolKey& key) const {
    return std::ranges::find(queue, std::optional(key)) != queue.end();
  }
};

class PoolRules : public testing::Test {
 protected:
  static constexpr std::uint64_t k_scenes = 500;
};

TEST_F(PoolRules, ATrialStartsOnFreeMachinesOfItsOwnKindOnly) {
  int warm = 0;
  for (std::uint64_t seed = 0; seed < k_scenes; ++seed) {
    const PoolScene scene(seed);
    const auto decision = scene.decision();
    const auto* start = std::get_if<StartTrial>(&decision);
    if (start == nullptr || !start->pool_job) continue;
    ++warm;
    ASSERT_LT(start->index, scene.queue.size());
    const WarmPool* pool = scene.pool_of(*start->pool_job);
    ASSERT_NE(pool, nullptr) << "seed " << seed;
    EXPECT_TRUE(pool->available) << "seed " << seed;
    EXPECT_EQ(scene.queue[start->index], pool->key) << "seed " << seed;
  }
  EXPECT_GT(warm, 20);
}

TEST_F(PoolRules, AFittingFreePoolIsUsedFirst) {
  int fitting = 0;
  for (std::uint64_t seed = 0; seed < k_scenes; ++seed) {
    const PoolScene scene(seed);
    const bool fits = std::ranges::any_of(scene.pools, [&](const WarmPool& pool) {
      return pool.available && scene.waits_for(pool.key);
    });
    if (!fits) continue;
    ++fitting;
    const auto decision = scene.decision();
    const auto* start = std::get_if<StartTrial>(&decision);
    ASSERT_NE(start, nullptr) << "seed " << seed;
    EXPECT_TRUE(start->pool_job) << "seed " << seed;
  }
  EXPECT_GT(fitting, 20);
}

TEST_F(PoolRules, NeverMoreMachinesThanPlaces) {
  int cold = 0;
  for (std::uint64_t seed = 0; seed < k_scenes; ++seed) {
    const PoolScene scene(seed);
    const auto decision = scene.decision();
    const auto* start = std::get_if<StartTrial>(&decision);
    if (start == nullptr || start->pool_job) continue;
    ++cold;
    EXPECT_LT(scene.busy.size() + scene.pools.size(), scene.parallel) << "seed " << seed;
  }
  EXPECT_GT(cold, 20);
}

TEST_F(PoolRules, TheLongestIdleUnneededMachinesAreReleasedFirst) {
  int released = 0;
  for (std::uint64_t seed = 0; seed < k_scenes; ++seed) {
    const PoolScene scene(seed);
    const auto decision = scene.decision();
    const auto* release = std::get_if<ReleasePool>(&decision);
    if (release == nullptr) continue;
    ++released;
    const WarmPool* pool = scene.pool_of(release->job);
    ASSERT_NE(pool, nullptr);
    EXPECT_TRUE(pool->available) << "seed " << seed;
    EXPECT_FALSE(scene.waits_for(pool->key)) << "seed " << seed;
    EXPECT_FALSE(scene.queue.empty()) << "no trial needs the place";
    for (const WarmPool& other : scene.pools)
      EXPECT_FALSE(other.available && other.since_s < pool->since_s) << "seed " << seed;
  }
  EXPECT_GT(released, 10);
}

/// Carries out the decisions until there is none. Then no trial waits while there is room for it,
/// and the sequence ends.
TEST_F(PoolRules, WaitingTrialsStartUntilThereIsNoRoom) {
  for (std::uint64_t seed = 0; seed < k_scenes; ++seed) {
    PoolScene scene(seed);
    for (int step = 0;; ++step) {
      ASSERT_LT(step, 50) << "seed " << seed;
      const auto decision = scene.decision();
      if (const auto* start = std::get_if<StartTrial>(&decision)) {
        scene.busy.push_back(scene.queue[start->index]);
        scene.queue.erase(scene.queue.begin() + static_cast<std::ptrdiff_t>(start->index));
        std::erase_if(scene.pools,
                      [&](const WarmPool& pool) { return pool.job == start->pool_job; });
      } else if (const auto* release = std::get_if<ReleasePool>(&decision)) {
        std::erase_if(scene.pools, [&](const WarmPool& pool) { return pool.job == release->job; });
      } else {
        break;
      }
    }
    for (const auto& key : scene.queue) {
      const auto settling = std::ranges::count_if(scene.pools, [&](const WarmPool& pool) {
        return !pool.available && key && pool.key == *key;
      });
      EXPECT_TRUE(settling > 0 || scene.busy.size() + scene.pools.size() >= scene.parallel)
          << "seed " << seed;
    }
  }
}

TEST(JobNames, AreReadBackForAnyStudyTrialAttemptAndLaunch) {
  constexpr std::string_view k_bytes = "abcXYZ019-_. /t-a\xc3\xa4\n";
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed, "job_names");
    std::string study;
    for (std::uint64_t left = rng.below(60); left > 0; --left)
      study += k_bytes[rng.below(k_bytes.size())];
    const TrialKey key{static_cast<std::int64_t>(1 + rng.below(1'000'000'000)),
                       static_cast<int>(1 + rng.below(999))};
    const int launch = static_cast<int>(1 + rng.below(20));
    const std::string prefix = job_name_prefix(study, "salt");
    const std::string name = job_name(prefix, key, launch);
    EXPECT_LE(name.size(), 63U) << name;
    EXPECT_TRUE(name.starts_with(prefix));
    const auto owner = job_owner(name);
    ASSERT_TRUE(owner) << name;
    EXPECT_EQ(owner->key, key) << name;
    EXPECT_EQ(owner->launch, launch) << name;
    EXPECT_TRUE(prefix.starts_with(owner->study + "-")) << name;
  }
}

TEST(JobNames, NamesOfOtherJobsHaveNoOwner) {
  const std::string prefix = job_name_prefix("study", "salt");
  for (const std::string& name :
       {std::string("my-training"), prefix, prefix + "t1", prefix + "t0-a1", prefix + "t1-a0",
        prefix + "t1-a1-r0", prefix + "t1-a1-r", prefix + "t1-a1x", "x" + prefix.substr(6) + "t1",
        prefix + "t99999999999999999999-a1", std::string("study-xyz45678-t1-a1"), std::string(),
        std::string("a-0123abcX-t1-a1"), std::string("a-123abcd-t1-a1"),
        std::string("-0123abcd-t1-a1"), std::string("a-0123abcd-t1-a1-"),
        std::string("a-0123abcd-tx-a1")})
    EXPECT_EQ(job_owner(name), std::nullopt) << name;
  EXPECT_EQ(job_owner("a-0123abcd-t1-a1")->launch, 1);
}

}  // namespace
}  // namespace steptune
