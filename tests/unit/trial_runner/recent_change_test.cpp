// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/recent_change.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

constexpr int k_steps = 300;
constexpr int k_series = 200;

/// Returns the number of series with this noise that seem to change at their end.
int alarms(double noise, double correlation, const std::function<double(int)>& level) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < k_series; ++seed) {
    Rng rng(seed, "recent_change_test");
    std::vector<Interval> intervals;
    double state = rng.normal();
    for (int i = 0; i < k_steps; ++i) {
      state = correlation * state + std::sqrt(1.0 - correlation * correlation) * rng.normal();
      intervals.push_back({2.0, 2.0 * level(i) * (1.0 + noise * state)});
    }
    count += may_have_just_changed(intervals, estimate_rate(intervals)) ? 1 : 0;
  }
  return count;
}

TEST(RecentChange, IsSuspectedAfterAFewStepsInNoise) {
  const auto slower = [](int i) { return i < k_steps - 15 ? 1.0 : 1.15; };
  const auto faster = [](int i) { return i < k_steps - 15 ? 1.0 : 0.85; };
  EXPECT_GE(alarms(0.12, 0.0, slower), 0.5 * k_series);
  EXPECT_GE(alarms(0.12, 0.0, faster), 0.5 * k_series);
}

TEST(RecentChange, IsRarelySuspectedWithoutAChange) {
  const auto even = [](int /*step*/) { return 1.0; };
  EXPECT_LE(alarms(0.12, 0.0, even), 0.05 * k_series);
  EXPECT_LE(alarms(0.12, 0.9, even), 0.05 * k_series);
  EXPECT_EQ(alarms(0.0, 0.0, even), 0) << "steps that are exactly alike";
}

TEST(RecentChange, IsNotReportedIfStepsAlwaysDifferAsMuch) {
  const auto buckets = [](int i) { return 1.4 - 0.8 * (i % 50) / 49.0; };
  EXPECT_LE(alarms(0.02, 0.0, buckets), 0.05 * k_series);
  EXPECT_EQ(alarms(0.0, 0.0, buckets), 0);
}

TEST(RecentChange, FewIntervalsShowNoChange) {
  std::vector<Interval> few(9, Interval{1.0, 1.0});
  few[7].seconds = few[8].seconds = 3.0;
  EXPECT_FALSE(may_have_just_changed(few, estimate_rate(few)));
  EXPECT_FALSE(may_have_just_changed({}, RateEstimate()));
}

}  // namespace
}  // namespace steptune
