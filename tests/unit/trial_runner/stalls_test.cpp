// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/stalls.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

std::vector<Interval> noisy_steps(int count) {
  Rng rng(3, "stalls_test");
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i)
    intervals.push_back({4.0, 1.0 + 0.1 * rng.normal()});
  return intervals;
}

TEST(Stalls, AreFoundWithTheirExcessTime) {
  auto intervals = noisy_steps(200);
  intervals[50].seconds += 3.0;
  intervals[150].seconds += 2.0;
  const auto stalls = find_stalls(intervals);
  ASSERT_EQ(stalls.size(), 2U);
  EXPECT_EQ(stalls[0].interval, 50U);
  EXPECT_EQ(stalls[0].at_samples, 51 * 4.0);
  EXPECT_NEAR(stalls[0].seconds, 3.0, 0.4);
  EXPECT_EQ(stalls[1].interval, 150U);
  const auto steps = without_stalls(intervals, stalls);
  EXPECT_NEAR(steps[50].seconds, 1.0, 0.05);
  EXPECT_EQ(steps[51].seconds, intervals[51].seconds);
  EXPECT_TRUE(find_stalls(steps).empty());
}

TEST(Stalls, AreNotMadeOfNoise) {
  EXPECT_TRUE(find_stalls(noisy_steps(1000)).empty());
  EXPECT_TRUE(find_stalls({}).empty());
}

TEST(Stalls, SeveralSlowStepsInARowAreAnotherLevel) {
  auto intervals = noisy_steps(200);
  for (std::size_t i = 180; i < 184; ++i)
    intervals[i].seconds += 3.0;
  EXPECT_TRUE(find_stalls(intervals).empty());
}

TEST(Stalls, AreNotTheSlowStepsOfAStart) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "stalls_test");
    std::vector<Interval> intervals;
    for (int i = 0; i < 500; ++i) {
      intervals.push_back({1.0, 0.1 * (1.0 + 0.05 * rng.normal() + 2.0 * std::exp(-i / 20.0))});
    }
    EXPECT_TRUE(find_stalls(intervals).empty()) << seed;
    intervals[300].seconds += 1.0;
    EXPECT_EQ(find_stalls(intervals).size(), 1U) << seed << ": a later slow step is a stall";
  }
}

TEST(Stalls, FrequentStallsArePartOfTheSteps) {
  auto intervals = noisy_steps(200);
  for (std::size_t i = 0; i < intervals.size(); i += 8)
    intervals[i].seconds += 3.0;
  EXPECT_TRUE(find_stalls(intervals).empty());
}

}  // namespace
}  // namespace steptune
