// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/confirm.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/loop/fixture.hpp"

namespace steptune {
namespace {

constexpr auto k_a = TrialPurpose::confirm_incumbent;
constexpr auto k_b = TrialPurpose::confirm_baseline;

Configuration of(std::int64_t x) {
  Configuration configuration;
  configuration.set("x", x);
  return configuration;
}

TEST(Confirm, StepsTakeTurnsUntilAllPairsAreDone) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> trials{completed(1, 4.0), completed(2, 2.0)};
  for (int pair = 1; pair <= 2; ++pair) {
    auto step = next_confirm_step(study, trials, of(2), 2);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->purpose, k_a);
    EXPECT_EQ(step->pair, pair);
    trials.push_back(confirming(10 + pair, k_a, pair, 2, 2.0));
    step = next_confirm_step(study, trials, of(2), 2);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->purpose, k_b);
    EXPECT_EQ(step->pair, pair);
    trials.push_back(confirming(20 + pair, k_b, pair, 1, 4.0));
  }
  EXPECT_FALSE(next_confirm_step(study, trials, of(2), 2));
  EXPECT_EQ(confirmed_pairs(study, trials, of(2)).size(), 2U);
}

TEST(Confirm, AnotherIncumbentBeginsItsOwnPairs) {
  const StudySpec study = time_study();
  const std::vector<TrialRecord> trials{confirming(3, k_a, 1, 2, 2.0),
                                        confirming(4, k_b, 1, 1, 4.0)};
  EXPECT_TRUE(confirmed_pairs(study, trials, of(5)).empty());
  const auto step = next_confirm_step(study, trials, of(5), 3);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->purpose, k_a);
  EXPECT_EQ(step->pair, 2);
}

TEST(Confirm, AFailureEndsTheConfirmation) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> trials{confirming(3, k_a, 1, 2, 2.0), confirming(4, k_b, 1, 1, 4.0)};
  trials[1].status = TrialStatus::failed;
  EXPECT_FALSE(next_confirm_step(study, trials, of(2), 3));
  trials[1].status = TrialStatus::infeasible;
  EXPECT_TRUE(next_confirm_step(study, trials, of(2), 3))
      << "a baseline that violates a guard is still what the user runs";
  trials[0].status = TrialStatus::infeasible;
  EXPECT_FALSE(next_confirm_step(study, trials, of(2), 3));
}

TEST(SpeedUp, IsTheGeometricMeanWithStudentsInterval) {
  const StudySpec study = time_study();
  const std::vector<TrialRecord> runs{
      confirming(1, k_a, 1, 2, 1.0), confirming(2, k_b, 1, 1, 2.0),  confirming(3, k_a, 2, 2, 1.0),
      confirming(4, k_b, 2, 1, 2.2), confirming(5, k_a, 3, 2, 1.05), confirming(6, k_b, 3, 1, 2.1)};
  const SpeedUp speed_up = speed_up_of_pairs(study, confirmed_pairs(study, runs, of(2)));
  EXPECT_EQ(speed_up.pairs, 3);
  EXPECT_NEAR(speed_up.ratio, std::cbrt(2.0 * 2.2 * 2.0), 1e-12);
  // Logs 0.6931, 0.7885, 0.6931: standard deviation 0.05503, t(2; 0.975) = 4.30265.
  const double half_width = 4.302653 * 0.0550278 / std::sqrt(3.0);
  EXPECT_NEAR(std::log(speed_up.high / speed_up.ratio), half_width, 1e-4);
  EXPECT_NEAR(std::log(speed_up.ratio / speed_up.low), half_width, 1e-4);
}

TEST(SpeedUp, DriftThatMeetsBothRunsOfAPairDoesNotWidenTheInterval) {
  const StudySpec study = time_study();
  std::vector<TrialRecord> runs;
  for (int pair = 1; pair <= 3; ++pair) {
    const double heat = 1.0 + 0.5 * pair;
    runs.push_back(confirming(2 * pair, k_a, pair, 2, heat));
    runs.push_back(confirming(2 * pair + 1, k_b, pair, 1, 2.0 * heat));
  }
  const SpeedUp speed_up = speed_up_of_pairs(study, confirmed_pairs(study, runs, of(2)));
  EXPECT_NEAR(speed_up.low, 2.0, 1e-9);
  EXPECT_NEAR(speed_up.high, 2.0, 1e-9);
}

TEST(SpeedUp, OnePairFallsBackOnTheIntervalsWithinItsRuns) {
  const StudySpec study = time_study();
  const std::vector<TrialRecord> runs{confirming(1, k_a, 1, 2, 1.0, 0.03),
                                      confirming(2, k_b, 1, 1, 2.0, 0.08)};
  const SpeedUp speed_up = speed_up_of_pairs(study, confirmed_pairs(study, runs, of(2)));
  EXPECT_EQ(speed_up.pairs, 1);
  EXPECT_DOUBLE_EQ(speed_up.ratio, 2.0);
  EXPECT_NEAR(speed_up.high, 2.0 * std::exp(1.96 * 0.05), 1e-3);
  EXPECT_NEAR(speed_up.low, 2.0 * std::exp(-1.96 * 0.05), 1e-3);
}

TEST(SpeedUp, OfAMaximizedMetricIsHowMuchLargerItIs) {
  StudySpec study = time_study();
  study.objectives = {{"throughput", Direction::maximize}};
  EXPECT_NEAR(speed_up_of_trials(study, completed(2, 30.0), completed(1, 10.0)).ratio, 3.0, 1e-12);
}

TEST(SpeedUp, HasNoMeaningWhereValuesAreNotPositive) {
  const SpeedUp speed_up = speed_up_of_trials(time_study(), completed(2, -1.0), completed(1, 1.0));
  EXPECT_TRUE(std::isnan(speed_up.ratio));
}

TEST(SpeedUp, OfTheBaselineOverItselfIsOne) {
  const TrialRecord baseline = completed(1, 2.0, 0.5);
  const SpeedUp speed_up = speed_up_of_trials(time_study(), baseline, baseline);
  EXPECT_EQ(speed_up.ratio, 1.0);
  EXPECT_EQ(speed_up.low, 1.0);
  EXPECT_EQ(speed_up.high, 1.0);
}

}  // namespace
}  // namespace steptune
