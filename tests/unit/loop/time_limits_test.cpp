// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/time_limits.hpp"

#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Fixture with a search trial that started at 100 s.
class TimeLimitsTest : public ::testing::Test {
 protected:
  TimeLimitsTest() {
    study_.limits.idle_s = 50.0;
    study_.limits.wall_s = 1000.0;
    targets_.measure.max_trial_s = 60.0;
    record_.number = 2;
    record_.status = TrialStatus::running;
  }
  [[nodiscard]] TrialView view() const { return {study_, record_, targets_, reports_}; }
  [[nodiscard]] double deadline_s() const { return next_limit_s(view()); }
  [[nodiscard]] std::optional<TrialEndCause> reached(double now_s) const {
    return reached_limit(view(), now_s);
  }
  /// Reports 20 steps of about 0.1 s; the last one at 103.06 s.
  void train() {
    for (int step = 1; step <= 20; ++step) {
      Report report;
      report.step = step;
      report.received_s = 101.0 + 0.1 * step + 0.01 * (step % 7);
      reports_.add(report);
    }
  }

  StudySpec study_ = time_study();
  TrialRecord record_;
  TrialTargets targets_{study_.measure};
  TrialReports reports_{study_, record_.configuration, targets_, 100.0, 0.0};
};

TEST_F(TimeLimitsTest, WithoutReportsTheLimitIsIdleTimePlusMeasuringTime) {
  EXPECT_DOUBLE_EQ(deadline_s(), 100.0 + 50.0 + 60.0);
  EXPECT_FALSE(reached(209.0));
  const auto over = reached(211.0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->request, EndRequest::time_limit);
  EXPECT_EQ(over->at_s, 211.0);
}

TEST_F(TimeLimitsTest, ATrialWithoutAStepEndsAtTheStartLimit) {
  targets_.longest_start_s = 23.0;
  EXPECT_DOUBLE_EQ(deadline_s(), 123.0);
  const auto over = reached(125.0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->request, EndRequest::slow_start);
  EXPECT_DOUBLE_EQ(over->waited_s, 25.0);
  train();
  EXPECT_GT(deadline_s(), 150.0) << "the program has started";
}

TEST_F(TimeLimitsTest, PausesMoveAllLimitsButTheBudgets) {
  targets_.longest_start_s = 23.0;
  reports_.paused({{2, 1}, 115.0, /*resumes=*/true, /*paused_s=*/10.0});
  EXPECT_DOUBLE_EQ(deadline_s(), 133.0);
  targets_.budget_end_s = 130.0;
  EXPECT_DOUBLE_EQ(deadline_s(), 130.0);
  const auto over = reached(130.0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->request, EndRequest::budget);
  EXPECT_DOUBLE_EQ(over->at_s, 120.0) << "without pauses";
}

TEST_F(TimeLimitsTest, OnlyTheBudgetEndsAPausedTrial) {
  targets_.longest_start_s = 23.0;
  reports_.paused({{2, 1}, 110.0});
  EXPECT_TRUE(std::isinf(deadline_s()));
  targets_.budget_end_s = 500.0;
  EXPECT_FALSE(reached(499.0));
  ASSERT_TRUE(reached(500.0));
  EXPECT_EQ(reached(500.0)->request, EndRequest::budget);
}

TEST_F(TimeLimitsTest, BudgetLeavesATrialItsLeastTime) {
  targets_.budget_end_s = 105.0;
  targets_.least_s = 20.0;
  EXPECT_DOUBLE_EQ(deadline_s(), 120.0);
}

TEST_F(TimeLimitsTest, SilenceCountsFromTheLatestProgress) {
  targets_.longest_trial_s = 10.0;
  targets_.longest_start_s = 12.0;
  train();
  EXPECT_NEAR(deadline_s(), 103.06 + 24.0, 1e-9) << "two start-ups";
  const auto over = reached(130.0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->request, EndRequest::silent);
  EXPECT_NEAR(over->waited_s, 26.94, 1e-9);
}

TEST_F(TimeLimitsTest, SilenceAfterTheTimeOfATrialDoesNotMatter) {
  targets_.longest_trial_s = 10.0;
  targets_.longest_start_s = 12.0;
  targets_.measure.max_trial_s = 10.0;
  train();
  const auto over = reached(600.0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->request, EndRequest::time_limit);
}

TEST_F(TimeLimitsTest, APhaseIsNoSilence) {
  targets_.longest_trial_s = 10.0;
  targets_.longest_start_s = 12.0;
  train();
  Report begins;
  begins.received_s = 103.1;
  begins.phase = PhaseReport{"evaluation", std::nullopt};
  reports_.add(begins);
  EXPECT_GT(deadline_s(), 150.0);
}

TEST_F(TimeLimitsTest, WallLimitHasAMarginOnceThereAreReports) {
  study_.limits.wall_s = 20.0;
  EXPECT_TRUE(std::isinf(before_wall_s(view())));
  train();
  EXPECT_DOUBLE_EQ(deadline_s(), 119.0);
}

}  // namespace
}  // namespace steptune
