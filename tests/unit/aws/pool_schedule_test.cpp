// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/pool_schedule.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace steptune {
namespace {

std::optional<PoolKey> key(const std::string& type) {
  PoolKey result;
  result.instance_type = type;
  return result;
}

WarmPool pool(const std::string& type, const std::string& job, bool available,
              double since_s = 0.0) {
  return {*key(type), job, available, since_s, 1.0};
}

TEST(WarmPools, ATrialGoesOntoWarmInstancesBeforeAnyOtherStarts) {
  const auto decision = next_pool_decision({key("b"), key("a")}, {pool("a", "job", true)}, {}, 4);
  const auto* start = std::get_if<StartTrial>(&decision);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->index, 1U);
  EXPECT_EQ(start->pool_job, "job");
}

TEST(WarmPools, ATrialWaitsForInstancesThatAreComingFree) {
  const auto decision = next_pool_decision({key("a")}, {pool("a", "job", false)}, {}, 4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decision));
}

TEST(WarmPools, MoreTrialsThanInstancesComingFreeStartCold) {
  const auto decision = next_pool_decision({key("a"), key("a")}, {pool("a", "job", false)}, {}, 4);
  const auto* start = std::get_if<StartTrial>(&decision);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->pool_job, std::nullopt);
}

TEST(WarmPools, KeptInstancesCountAgainstThePlaces) {
  const auto decision = next_pool_decision({key("b")}, {pool("a", "job", true)}, {key("a")}, 2);
  const auto* release = std::get_if<ReleasePool>(&decision);
  ASSERT_NE(release, nullptr) << "a pool that no trial waits for is released";
  EXPECT_EQ(release->job, "job");
}

TEST(WarmPools, NothingChangesWhileAllPlacesWork) {
  const auto decision = next_pool_decision({key("b")}, {}, {key("a"), key("a")}, 2);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decision));
}

TEST(WarmPools, PlacesAreSharedOutByDemand) {
  std::vector<std::optional<PoolKey>> queue{key("a"), key("a"), key("a"), key("b"), key("b")};
  std::vector<std::optional<PoolKey>> busy;
  std::vector<std::string> started;
  for (int place = 0; place < 4; ++place) {
    const auto decision = next_pool_decision(queue, {}, busy, 4);
    const auto* start = std::get_if<StartTrial>(&decision);
    ASSERT_NE(start, nullptr);
    busy.push_back(queue[start->index]);
    started.push_back(queue[start->index]->instance_type);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(start->index));
  }
  EXPECT_EQ(std::ranges::count(started, "a"), 2);
}

TEST(WarmPools, JobsThatCanUseNoPoolStartColdAndTakeNone) {
  const auto decision = next_pool_decision({std::nullopt}, {pool("a", "job", true)}, {}, 2);
  const auto* start = std::get_if<StartTrial>(&decision);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->pool_job, std::nullopt);
}

TEST(WarmPools, TheLatestFreePoolIsUsed) {
  const auto decision = next_pool_decision(
      {key("a")},
      {pool("a", "old", true, 10.0), pool("a", "new", true, 50.0), pool("a", "older", true, 5.0)},
      {}, 4);
  const auto* start = std::get_if<StartTrial>(&decision);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->pool_job, "new")
      << "uses the newest pool, so that surplus older pools can be released earlier";
}

TEST(WarmPools, TheOldestUnneededPoolMakesRoom) {
  const auto decision =
      next_pool_decision({key("b")},
                         {pool("a", "new", true, 50.0), pool("a", "settles", false, 1.0),
                          pool("a", "old", true, 10.0)},
                         {}, 3);
  const auto* release = std::get_if<ReleasePool>(&decision);
  ASSERT_NE(release, nullptr);
  EXPECT_EQ(release->job, "old");
}

TEST(WarmPools, TheFirstInTheQueueStartsAtEqualDemand) {
  const auto decision = next_pool_decision({key("b"), key("a")}, {}, {}, 4);
  const auto* start = std::get_if<StartTrial>(&decision);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->index, 0U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(next_pool_decision({}, {}, {}, 4)));
}

TEST(WarmPools, PoolsOfAnotherKindAreNotWaitedFor) {
  const auto decision = next_pool_decision({key("b")}, {pool("a", "job", false)}, {}, 2);
  EXPECT_TRUE(std::holds_alternative<StartTrial>(decision));
}

}  // namespace
}  // namespace steptune
