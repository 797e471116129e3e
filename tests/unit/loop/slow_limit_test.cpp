// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/slow_limit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/loop/running_trial.hpp"

namespace steptune {
namespace {

/// Fixture with a baseline of 0.1 s per sample, whose warm-up took 7 s.
class SlowLimitTest : public ::testing::Test {
 protected:
  SlowLimitTest() {
    TrialRecord baseline = completed(1, 100.0);
    baseline.purpose = TrialPurpose::baseline;
    baseline.measurement = steady(0.1);
    baseline.measurement->warmup_s = 7.0;
    trials_.push_back(std::move(baseline));
  }
  [[nodiscard]] std::optional<SlowLimit> limit(double to_beat) const {
    Configuration configuration;
    configuration.set("x", std::int64_t{2});
    TrialTargets targets{study_.measure};
    targets.measure.min_window_s = 6.0;
    targets.to_beat = to_beat;
    return slow_limit(study_, Standing(ranking_rules(study_), trials_), configuration, targets);
  }

  StudySpec study_ = time_study();
  std::vector<TrialRecord> trials_;
};

TEST_F(SlowLimitTest, IsOneAndAHalfTimesTheBestAfterWarmUp) {
  const auto found = limit(90.0);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->seconds_per_sample, 1.5 * 0.09);
  EXPECT_EQ(found->after_s, 7.0);
  EXPECT_EQ(found->window_s, 3.0) << "two windows together are as long as the least window";
}

TEST_F(SlowLimitTest, WarmUpOfAnUnsteadyTrialIsIgnored) {
  TrialRecord failed = completed(2, 100.0);
  failed.status = TrialStatus::failed;
  failed.measurement = steady(0.1);
  failed.measurement->status = MeasurementStatus::not_steady;
  failed.measurement->warmup_s = 500.0;
  trials_.push_back(std::move(failed));
  TrialRecord compiled = completed(3, 100.0);
  compiled.measurement = steady(0.1);
  compiled.measurement->warmup_s = 9.0;
  trials_.push_back(std::move(compiled));
  const auto found = limit(90.0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->after_s, 9.0);
}

TEST_F(SlowLimitTest, ACostLimitIsConvertedToSecondsByTheMachinesPrice) {
  study_.objectives.front().metric = "cost";
  const auto found = limit(0.05);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->seconds_per_sample, 1.5 * 50.0 / 1000.0)
      << "0.05 USD are 50 s at 3.6 USD an hour; the planned run has 1000 samples";
}

TEST_F(SlowLimitTest, IsAbsentIfASlowTrialMayBeUseful) {
  study_.objectives.push_back(study_.objectives.front());
  study_.objectives.back().metric = "cost";
  EXPECT_FALSE(limit(90.0));
}

TEST_F(SlowLimitTest, ATrialThatItsJobEndedAsTooSlowIsStoppedEarly) {
  TrialRecord record;
  record.number = 2;
  RunningTrial trial(study_, record, 0.0, {study_.measure});
  trial.started({{2, 1}, 0.0, "", {}});
  for (int step = 1; step <= 8; ++step) {
    Report report;
    report.step = step;
    report.received_s = 1.0 + step;
    trial.reported(report);
  }
  Outcome outcome;
  outcome.kind = OutcomeKind::stopped;
  outcome.had_enough = true;
  outcome.was_slow = true;
  outcome.duration_s = 9.5;
  const TrialRecord ended = trial.finished(outcome, &trials_.front(), 0.0);
  EXPECT_EQ(ended.status, TrialStatus::stopped_early) << ended.failure;
  ASSERT_EQ(ended.objectives.size(), 1U);
  EXPECT_NEAR(ended.objectives[0], 1000.0, 150.0)
      << "measured at 1 s per step, and the planned run has 1000 steps";
}

}  // namespace
}  // namespace steptune
