// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_targets.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Study whose baseline is measured. The baseline's start-up took 10 s.
class TrialTargetsTest : public ::testing::Test {
 protected:
  TrialTargetsTest() {
    TrialRecord baseline = completed(/*number=*/1, /*value=*/100.0, /*standard_error=*/1.0);
    baseline.purpose = TrialPurpose::baseline;
    baseline.measurement =
        steady(/*seconds_per_sample=*/0.1, /*half_width_s=*/0.001, /*startup_s=*/10.0);
    standing_.put(baseline);
  }
  /// Returns the state at a launch. The loop's clock shows 50 s. The study has used 400 s of tuning
  /// time, including earlier runs of the tuner. Two runs of a confirming round are left.
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

TEST_F(TrialTargetsTest, WithoutATimeBudgetNoTrialHasATimeLimit) {
  for (const TrialPurpose purpose : {TrialPurpose::search, TrialPurpose::confirm_incumbent}) {
    const TrialTargets targets = targets_of(trial(purpose), state());
    EXPECT_TRUE(std::isinf(targets.share_of_budget_s));
    EXPECT_TRUE(std::isinf(targets.budget_end_s));
  }
}

TEST_F(TrialTargetsTest, JudgedConfigurationsShareTheTimeForTheirStarts) {
  study_.budget.time_s = 1000.0;
  study_.budget.trials = 3;
  study_.measure.confirm_all = true;
  TrialRecord run = trial(TrialPurpose::search);
  run.status = TrialStatus::launching;
  standing_.put(run);
  const TrialTargets targets = targets_of(run, state());
  EXPECT_GT(targets.budget_end_s, 50.0 + 300.0);
  EXPECT_DOUBLE_EQ(targets.longest_start_s, (targets.budget_end_s - 50.0) / 2)
      << "for this trial and one more";
}

TEST_F(TrialTargetsTest, RunsOfAConfirmingRoundDivideTheRestOfTheTimeBudget) {
  study_.budget.time_s = 1000.0;
  TrialRecord run = trial(TrialPurpose::confirm_incumbent);
  run.confirm_pair = 1;  // first round
  EXPECT_DOUBLE_EQ(targets_of(run, state()).budget_end_s, 50.0 + 600.0 / 2);
  // A restarted tuner takes over a run that began 30 s ago, when 630 s were left.
  LaunchState after_restart = state();
  after_restart.ran_s = 30.0;
  EXPECT_DOUBLE_EQ(targets_of(run, after_restart).budget_end_s, 20.0 + 630.0 / 2);
}

TEST_F(TrialTargetsTest, InterleavedRunsOfARoundAllEndWithTheTimeBudget) {
  study_.budget.time_s = 1000.0;
  TrialRecord run = trial(TrialPurpose::confirm_incumbent);
  run.confirm_pair = 1;  // first round
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  const TrialTargets targets = targets_of(run, interleaved);
  EXPECT_EQ(targets.interleaved_round, 1) << "the runs of round 1 take turns";
  EXPECT_DOUBLE_EQ(targets.budget_end_s, 50.0 + 600.0);
  run.attempt = 2;
  EXPECT_EQ(targets_of(run, interleaved).interleaved_round, 0)
      << "a repeated run runs alone: the other runs of its round are over";
}

TEST_F(TrialTargetsTest, AfterTheFirstRoundInterleavedRunsMeasureForAsLongAsAStartUpTakes) {
  study_.budget.time_s = 10'000.0;
  TrialRecord run = trial(TrialPurpose::confirm_incumbent);
  run.confirm_pair = 2;  // second round
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  EXPECT_DOUBLE_EQ(targets_of(run, interleaved).share_of_budget_s, 10.0);
}

TEST_F(TrialTargetsTest, ARunInTurnsMayStartFourTimesAsSlowlyAsAlone) {
  TrialRecord run = trial(TrialPurpose::confirm_incumbent);
  run.confirm_pair = 1;
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  EXPECT_DOUBLE_EQ(targets_of(run, interleaved).longest_start_s, 40.0);
  EXPECT_TRUE(std::isinf(targets_of(run, state()).longest_start_s)) << "alone";
}

TEST_F(TrialTargetsTest, ARunInTurnsOfAProgramThatReportsSeldomIsWaitedFor) {
  TrialRecord run = trial(TrialPurpose::confirm_incumbent);
  run.number = 3;
  run.confirm_pair = 1;
  LaunchState interleaved = state();
  interleaved.interleaves = true;
  TrialRecord seldom = trial(TrialPurpose::search);
  seldom.measurement = steady(/*seconds_per_sample=*/0.1, /*half_width_s=*/0.001,
                              /*startup_s=*/10.0);
  seldom.measurement->warmup_s = 25.0;
  standing_.put(seldom);
  EXPECT_DOUBLE_EQ(targets_of(run, interleaved).longest_start_s, 4.0 * 35.0);
  // All its output came when it ended.
  seldom.measurement->startup_s = seldom.measurement->warmup_s = 0.0;
  seldom.measurement->window_s = 60.0;
  standing_.put(seldom);
  EXPECT_DOUBLE_EQ(targets_of(run, interleaved).longest_start_s, 4.0 * 60.0);
}

/// A sentinel is a run of the baseline between search trials, to show if the machine drifts.
TEST_F(TrialTargetsTest, ASentinelGetsHalfOfASearchTrialsShareOfTheTimeBudget) {
  study_.budget.time_s = 1000.0;
  const double search_s = targets_of(trial(TrialPurpose::search), state()).share_of_budget_s;
  const double sentinel_s = targets_of(trial(TrialPurpose::sentinel), state()).share_of_budget_s;
  EXPECT_DOUBLE_EQ(sentinel_s, 0.5 * search_s);
}

TEST_F(TrialTargetsTest, OnlyATrialOfTheSearchHasAnIncumbentToBeat) {
  EXPECT_TRUE(targets_of(trial(TrialPurpose::search), state()).to_beat);
  EXPECT_FALSE(targets_of(trial(TrialPurpose::sentinel), state()).to_beat);
  EXPECT_FALSE(targets_of(trial(TrialPurpose::confirm_incumbent), state()).to_beat);
}

/// A night would otherwise say that the configuration in use no longer works.
TEST_F(TrialTargetsTest, TheConfigurationInUseIsMeasuredEvenIfItIsSlow) {
  const TrialRecord in_use = trial(TrialPurpose::hint);
  EXPECT_TRUE(targets_of(in_use, state()).slow_limit);
  study_.measure.in_use = ConfigurationInUse{in_use.configuration, 1};
  EXPECT_FALSE(targets_of(in_use, state()).to_beat);
  EXPECT_FALSE(targets_of(in_use, state()).slow_limit);
}

TEST_F(TrialTargetsTest, TheBaselinesWindowCostsAtMostATwentiethOfAMoneyBudget) {
  const TrialRecord baseline = trial(TrialPurpose::baseline);
  EXPECT_DOUBLE_EQ(targets_of(baseline, state()).baseline_window_s,
                   10.0 * study_.measure.min_window_s);
  study_.budget.cost_usd = 0.1;  // pays for 100 s at 3.6 USD an hour
  EXPECT_DOUBLE_EQ(targets_of(baseline, state()).baseline_window_s, 5.0);
}

}  // namespace
}  // namespace steptune
