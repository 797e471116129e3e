// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/guards_over_launches.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

constexpr const char* k_judged = "loss@1000";

Guard loss_guard() {
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 1000.0;
  guard.max_ratio_to_baseline = 1.02;
  guard.over_launches = true;
  return guard;
}

TrialRecord launch(std::int64_t x, double loss, double error) {
  TrialRecord trial = completed(x, 1.0);
  trial.measurement = steady(0.1);
  trial.measurement->metrics[k_judged] = loss;
  trial.measurement->metric_errors[k_judged] = error;
  return trial;
}

/// Returns the comparison of configuration 2 with configuration 1.
std::optional<LaunchMeans> compared(const std::vector<TrialRecord>& trials, double error = 0.025) {
  Configuration baseline;
  baseline.set("x", std::int64_t{1});
  Configuration other;
  other.set("x", std::int64_t{2});
  return means_over_launches(loss_guard(), trials, other, baseline, error);
}

TEST(GuardsOverLaunches, ALargerMeanViolates) {
  const auto means = compared(
      {launch(1, 2.0, 0.01), launch(2, 2.2, 0.01), launch(1, 2.01, 0.01), launch(2, 2.21, 0.01)});
  ASSERT_TRUE(means);
  EXPECT_EQ(means->launches, 2);
  EXPECT_NEAR(means->difference, 0.1, 0.001);
  EXPECT_TRUE(means->is_violated);
}

TEST(GuardsOverLaunches, LaunchesThatDifferHideASmallDifference) {
  const auto means = compared(
      {launch(1, 1.8, 0.01), launch(2, 2.2, 0.01), launch(1, 2.2, 0.01), launch(2, 2.05, 0.01)});
  ASSERT_TRUE(means);
  EXPECT_FALSE(means->is_violated);
}

/// With the same seed, each launch repeats the losses of the one before.
TEST(GuardsOverLaunches, RepeatedLossesCountAsOne) {
  std::vector<TrialRecord> trials;
  for (int i = 0; i < 20; ++i) {
    trials.push_back(launch(1, 2.0, 0.1));
    trials.push_back(launch(2, 2.15, 0.1));
  }
  ASSERT_TRUE(compared(trials));
  EXPECT_FALSE(compared(trials)->is_violated);
}

TEST(GuardsOverLaunches, ALossBelowZeroIsComparedBySize) {
  const auto means = compared({launch(1, -5.0, 0.001), launch(2, -4.95, 0.001),
                               launch(1, -5.0, 0.001), launch(2, -4.95, 0.001)});
  ASSERT_TRUE(means);
  EXPECT_NEAR(means->difference, 0.01, 1e-9);
  EXPECT_FALSE(means->is_violated) << "the limit is -4.9";
}

TEST(GuardsOverLaunches, OneLaunchShowsNothing) {
  EXPECT_FALSE(compared({launch(1, 2.0, 0.01), launch(2, 9.0, 0.01), launch(1, 2.0, 0.01)}));
}

/// Equal configurations whose launches differ by 5 % violate the guard in at most 1 of 40 cases.
TEST(GuardsOverLaunches, EqualConfigurationsSeldomViolate) {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed, "launches");
    std::vector<TrialRecord> trials;
    for (int i = 0; i < 3; ++i) {
      trials.push_back(launch(1, 2.0 * (1.0 + 0.05 * rng.normal()), 0.01));
      trials.push_back(launch(2, 2.0 * (1.0 + 0.05 * rng.normal()), 0.01));
    }
    violated += compared(trials)->is_violated ? 1 : 0;
  }
  EXPECT_LE(violated, 50);
  EXPECT_GT(violated, 0) << "the noise is not small beside the limit";
}

}  // namespace
}  // namespace steptune
