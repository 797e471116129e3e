// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/level_shift.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

std::vector<Interval> series(int count, double correlation, double noise, std::uint64_t seed,
                             const std::function<double(int)>& level) {
  Rng rng(seed, "level_shift_test");
  std::vector<Interval> intervals;
  double state = rng.normal();
  for (int i = 0; i < count; ++i) {
    state = correlation * state + std::sqrt(1.0 - correlation * correlation) * rng.normal();
    intervals.push_back({1.0, level(i) * (1.0 + noise * state)});
  }
  return intervals;
}

double flat(int /*step*/) {
  return 1.0;
}

TEST(LevelShift, IsFoundWhereItIs) {
  const auto throttled = [](int i) { return i < 200 ? 1.0 : 1.2; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto shifts = find_level_shifts(series(300, 0.5, 0.05, seed, throttled));
    ASSERT_EQ(shifts.size(), 1U) << seed;
    EXPECT_NEAR(static_cast<double>(shifts[0].interval), 200.0, 15.0);
    EXPECT_NEAR(shifts[0].after / shifts[0].before, 1.2, 0.05);
  }
}

TEST(LevelShift, ADisturbanceThatCameAndWentHasTwo) {
  const auto disturbed = [](int i) { return i >= 60 && i < 200 ? 1.3 : 1.0; };
  const auto shifts = find_level_shifts(series(320, 0.0, 0.02, 1, disturbed));
  ASSERT_EQ(shifts.size(), 2U);
  EXPECT_NEAR(static_cast<double>(shifts[0].interval), 60.0, 6.0);
  EXPECT_NEAR(static_cast<double>(shifts[1].interval), 200.0, 6.0);
  EXPECT_NEAR(shifts[1].after, 1.0, 0.02);
}

TEST(LevelShift, IsNotSeenInNoiseHoweverCorrelated) {
  for (const double correlation : {0.0, 0.6, 0.95}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      found += find_level_shifts(series(300, correlation, 0.1, seed, flat)).empty() ? 0 : 1;
    EXPECT_LE(found, 4) << correlation;
  }
}

TEST(LevelShift, ChangesBelowTwoPercentDoNotCount) {
  const auto shifted = [](int i) { return i < 100 ? 1.0 : 1.015; };
  EXPECT_TRUE(find_level_shifts(series(200, 0.0, 0.001, 1, shifted)).empty());
}

TEST(LevelShift, ARampHasNone) {
  const auto ramp = [](int i) { return 1.0 + 0.001 * i; };
  EXPECT_TRUE(find_level_shifts(series(300, 0.0, 0.01, 1, ramp)).empty());
}

TEST(LevelShift, NeedsIntervals) {
  EXPECT_TRUE(find_level_shifts({}).empty());
  EXPECT_TRUE(
      find_level_shifts(series(11, 0.0, 0.0, 1, [](int i) { return i < 5 ? 1.0 : 2.0; })).empty());
}

}  // namespace
}  // namespace steptune
