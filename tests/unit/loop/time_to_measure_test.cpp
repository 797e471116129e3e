// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/time_to_measure.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Fixture after a trial that started in 10 s, warmed up for 2 s, and was steady after 20 s of 0.1
/// s steps.
class TimeToMeasureTest : public ::testing::Test {
 protected:
  TimeToMeasureTest() {
    targets_.measure.min_window_s = 5.0;
    targets_.measure.min_window_steps = 20;
    targets_.measure.max_trial_s = 120.0;
    study_.measure = targets_.measure;
    trials_.push_back(completed(1, 100.0));
    trials_[0].measurement = steady(0.1, 0.001, 10.0);
    trials_[0].measurement->warmup_s = 2.0;
    trials_[0].measurement->window_s = 20.0;
    trials_[0].measurement->window_steps = 200.0;
    trials_[0].measurement->window_samples = 200.0;
  }
  [[nodiscard]] double time_to_measure() const {
    return time_to_measure_s(study_, Standing(ranking_rules(study_), trials_), study_.baseline,
                             targets_);
  }

  StudySpec study_ = time_study();
  TrialTargets targets_;
  std::vector<TrialRecord> trials_;
};

TEST_F(TimeToMeasureTest, IsTheTimeOfEarlierTrialsWithAMargin) {
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 20.0), 1e-9);
}

TEST_F(TimeToMeasureTest, IsUnknownBeforeTheFirstMeasurement) {
  trials_[0].measurement->window_steps = 0.0;
  EXPECT_TRUE(std::isinf(time_to_measure()));
  trials_[0].measurement.reset();
  EXPECT_TRUE(std::isinf(time_to_measure()));
  trials_.clear();
  EXPECT_TRUE(std::isinf(time_to_measure()));
}

TEST_F(TimeToMeasureTest, UnfinishedTrialsDoNotCount) {
  for (const TrialStatus status : {TrialStatus::stopped_early, TrialStatus::running}) {
    trials_[0].status = status;
    EXPECT_TRUE(std::isinf(time_to_measure())) << to_text(status);
  }
}

TEST_F(TimeToMeasureTest, DoublesAfterAnUnsteadyTrial) {
  trials_[0].measurement->status = MeasurementStatus::not_steady;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 4.0 + 40.0), 1e-9);
}

TEST_F(TimeToMeasureTest, IsNoLongerThanATrialMayBe) {
  targets_.measure.max_trial_s = 12.0;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 12.0), 1e-9);
}

TEST_F(TimeToMeasureTest, LeavesRoomForTheLeastWindow) {
  trials_[0].measurement->window_s = 5.0;
  trials_[0].measurement->window_steps = 50.0;
  trials_[0].measurement->window_samples = 50.0;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 5.0), 1e-9)
      << "a trial of the least window may have needed less";
  targets_.measure.min_window_steps = 300;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 30.0), 1e-9);
  targets_.min_window_samples = 400.0;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 40.0), 1e-9);
}

TEST_F(TimeToMeasureTest, TheBaselinesLongerWindowIsReducedToTheNeededPrecision) {
  trials_[0].purpose = TrialPurpose::baseline;
  trials_[0].measurement = steady(0.1, 0.0016, 10.0);
  trials_[0].measurement->warmup_s = 2.0;
  trials_[0].measurement->window_s = 20.0;
  trials_[0].measurement->window_steps = trials_[0].measurement->window_samples = 200.0;
  ASSERT_DOUBLE_EQ(study_.measure.target_half_width, 0.02);
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 0.8 * 0.8 * 20.0), 1e-9);
  trials_[0].measurement->half_width_s = 0.0001;
  EXPECT_NEAR(time_to_measure(), 1.15 * (10.0 + 2.0 + 5.0), 1e-9) << "the least window";
}

TEST_F(TimeToMeasureTest, IncludesTheLongestStartUpOfEarlierTrials) {
  trials_.push_back(trials_[0]);
  trials_[1].number = 2;
  trials_[1].measurement->startup_s = 30.0;
  EXPECT_NEAR(time_to_measure(), 1.15 * (30.0 + 2.0 + 20.0), 1e-9);
}

}  // namespace
}  // namespace steptune
