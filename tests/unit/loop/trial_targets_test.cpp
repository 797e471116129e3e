// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_targets.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Fixture after a baseline that started in 10 s.
class TrialTargetsTest : public ::testing::Test {
 protected:
  TrialTargetsTest() {
    TrialRecord baseline = completed(1, 100.0, 1.0);
    baseline.purpose = TrialPurpose::baseline;
    baseline.measurement = steady(0.1, 0.001, 10.0);
    standing_.put(baseline);
  }
  /// Returns the state at 50 s on the loop's clock, after 400 s of tuning time.
  [[nodiscard]] LaunchState state() const {
    Spending spending = spending_of(study_, standing_);
    spending.elapsed_s = 400.0;
    return {.study = study_,
            .standing = standing_,
            .spending = spending,
            .now_s = 50.0,
            .elapsed_s = 400.0,
            .runs_left_in_round = 2,
            .one_at_a_time = true};
  }
  [[nodiscard]] static TrialRecord trial(TrialPurpose purpose) {
    TrialRecord record;
    record.number = 2;
    record.purpose = purpose;
    record.configuration.set("x", std::int64_t{2});
    return record;
  }

  StudySpec study_ = time_study();
  Standing standing_{ranking_rules(study_)};
};

TEST_F(TrialTargetsTest, WithoutATimeBudgetHaveNoTimeLimit) {
  for (const TrialPurpose purpose : {TrialPurpose::search, TrialPurpose::confirm_incumbent}) {
    const TrialTargets targets = targets_of(trial(purpose), state());
    EXPECT_TRUE(std::isinf(targets.share_s));
    EXPECT_TRUE(std::isinf(targets.budget_end_s));
  }
}

TEST_F(TrialTargetsTest, RunsOfARoundDivideTheRestOfTheBudget) {
  study_.budget.time_s = 1000.0;
  TrialRecord fresh = trial(TrialPurpose::confirm_incumbent);
  fresh.confirm_pair = 1;
  EXPECT_DOUBLE_EQ(targets_of(fresh, state()).budget_end_s, 50.0 + 600.0 / 2);
  LaunchState adopted = state();
  adopted.ran_s = 30.0;
  EXPECT_DOUBLE_EQ(targets_of(fresh, adopted).budget_end_s, 20.0 + 630.0 / 2);
}

TEST_F(TrialTargetsTest, InterleavedRunsShareTheRestOfTheBudget) {
  study_.budget.time_s = 1000.0;
  TrialRecord fresh = trial(TrialPurpose::confirm_incumbent);
  fresh.confirm_pair = 1;
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  const TrialTargets targets = targets_of(fresh, interleaved);
  EXPECT_EQ(targets.interleaved_round, 1);
  EXPECT_DOUBLE_EQ(targets.budget_end_s, 50.0 + 600.0);
  fresh.attempt = 2;
  EXPECT_EQ(targets_of(fresh, interleaved).interleaved_round, 0)
      << "the other runs of the round are over";
}

TEST_F(TrialTargetsTest, InterleavedRunsOfLaterRoundsMeasureForAsLongAsTheyStart) {
  study_.budget.time_s = 10'000.0;
  TrialRecord fresh = trial(TrialPurpose::confirm_incumbent);
  fresh.confirm_pair = 2;
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  EXPECT_DOUBLE_EQ(targets_of(fresh, interleaved).share_s, 10.0);
}

TEST_F(TrialTargetsTest, ASentinelTakesHalfTheShareOfATrial) {
  study_.budget.time_s = 1000.0;
  const double search_s = targets_of(trial(TrialPurpose::search), state()).share_s;
  const double sentinel_s = targets_of(trial(TrialPurpose::sentinel), state()).share_s;
  EXPECT_DOUBLE_EQ(sentinel_s, 0.5 * search_s);
}

TEST_F(TrialTargetsTest, OnlyATrialOfTheSearchHasAnIncumbentToBeat) {
  EXPECT_TRUE(targets_of(trial(TrialPurpose::search), state()).to_beat);
  EXPECT_FALSE(targets_of(trial(TrialPurpose::sentinel), state()).to_beat);
  EXPECT_FALSE(targets_of(trial(TrialPurpose::confirm_incumbent), state()).to_beat);
}

TEST_F(TrialTargetsTest, MoneyLimitsTheLongerWindowOfTheBaseline) {
  const TrialRecord baseline = trial(TrialPurpose::baseline);
  EXPECT_DOUBLE_EQ(targets_of(baseline, state()).longer_window_s,
                   10.0 * study_.measure.min_window_s);
  study_.budget.cost_usd = 0.1;  // 100 s at 3.6 USD an hour
  EXPECT_DOUBLE_EQ(targets_of(baseline, state()).longer_window_s, 5.0);
}

}  // namespace
}  // namespace steptune
