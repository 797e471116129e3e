// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/shared_phases.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {
namespace {

constexpr double k_run_samples = 1000.0;  // of each run, and of the study's planned run
constexpr auto k_of_winner = TrialPurpose::confirm_incumbent;
constexpr auto k_of_baseline = TrialPurpose::confirm_baseline;

/// Fixture: rounds of confirming runs. Each run sees a thousand samples in steps of `batch`.
class SharedPhasesTest : public ::testing::Test {
 protected:
  TrialRecord& add(TrialPurpose purpose, int round, std::int64_t x, double step_s_per_sample,
                   double evaluation_s = 0.0, double batch = 10.0) {
    Measurement measurement = steady(step_s_per_sample, 0.002 * step_s_per_sample);
    measurement.step_seconds_per_sample = measurement.seconds_per_sample;
    measurement.step_half_width_s = measurement.half_width_s;
    measurement.window_samples = measurement.total_samples = k_run_samples;
    measurement.window_steps = k_run_samples / batch;
    if (evaluation_s > 0.0) {
      measurement.phases["evaluation"] = {.count = 1.0,
                                          .seconds = evaluation_s,
                                          .seconds_error = 0.01,
                                          .spacing_samples = k_run_samples};
    }
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    const MeasuredValue time = planned_time(study_.planned_run, measurement);
    trials_.push_back(confirming(number, purpose, round, x, time.value, time.error));
    trials_.back().measurement = measurement;
    return trials_.back();
  }
  [[nodiscard]] std::vector<TrialRecord> shared(const Measurement* baseline = nullptr) const {
    std::vector<const TrialRecord*> runs;
    for (const TrialRecord& trial : trials_)
      runs.push_back(&trial);
    return with_shared_phases(study_, runs, baseline);
  }

  StudySpec study_ = time_study();
  std::vector<TrialRecord> trials_;
};

TEST_F(SharedPhasesTest, WithoutPhasesThereIsNothingToShare) {
  add(k_of_winner, 1, 2, 0.011);
  add(k_of_baseline, 1, 1, 0.020);
  EXPECT_TRUE(shared().empty());
}

TEST_F(SharedPhasesTest, EveryRunPaysForAPhaseOfOneRun) {
  add(k_of_winner, 1, 2, 0.010);
  add(k_of_baseline, 1, 1, 0.020, 8.0);
  add(k_of_baseline, 2, 1, 0.020);
  add(k_of_winner, 2, 2, 0.010);
  const auto runs = shared();
  // One evaluation of 8 s in 4 000 samples: 2 s in a thousand.
  EXPECT_NEAR(runs[0].objectives[0], 12.0, 1e-9);
  EXPECT_NEAR(runs[1].objectives[0], 22.0, 1e-9) << "as measured, it would be 28";
  EXPECT_NEAR(runs[2].objectives[0], 22.0, 1e-9);
  EXPECT_NEAR(runs[3].objectives[0], 12.0, 1e-9);
  EXPECT_GT(runs[0].standard_errors[0], trials_[0].standard_errors[0]);
  EXPECT_LT(runs[1].standard_errors[0], 0.1) << "every run has the same period";
}

TEST_F(SharedPhasesTest, AConfigurationKeepsTheDurationsOfItsOwnPhases) {
  add(k_of_winner, 1, 2, 0.010, 4.0);
  add(k_of_baseline, 1, 1, 0.020, 8.0);
  add(k_of_baseline, 2, 1, 0.020);
  add(k_of_winner, 2, 2, 0.010);
  const auto runs = shared();
  // Two evaluations in 4 000 samples.
  EXPECT_NEAR(runs[3].objectives[0], 12.0, 1e-9);
  EXPECT_NEAR(runs[2].objectives[0], 24.0, 1e-9);
}

TEST_F(SharedPhasesTest, ALargerBatchHasItsOwnPeriod) {
  add(k_of_winner, 1, 2, 0.010, 4.0, 40.0);
  add(k_of_baseline, 1, 1, 0.020, 4.0);
  add(k_of_baseline, 2, 1, 0.020);
  const auto runs = shared();
  EXPECT_NEAR(runs[0].objectives[0], 14.0, 1e-9) << "one in its thousand samples";
  EXPECT_NEAR(runs[1].objectives[0], 22.0, 1e-9) << "one in two thousand";
}

TEST_F(SharedPhasesTest, APhaseOnlyAtTheStartHasThePeriodOfOtherBatches) {
  add(k_of_winner, 1, 2, 0.010, 4.0, 40.0);
  trials_[0].measurement->phases["evaluation"].spacing_samples = k_nan;
  trials_[0].objectives = {14.0};  // pays once
  add(k_of_baseline, 1, 1, 0.020, 4.0);
  add(k_of_baseline, 2, 1, 0.020, 4.0);
  const auto runs = shared();
  // Two evaluations with a known period in 3 000 samples.
  EXPECT_NEAR(runs[0].objectives[0], 10.0 + 4.0 * 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(runs[1].objectives[0], 24.0, 1e-9) << "the period of its own batch";
}

TEST_F(SharedPhasesTest, PhasesOfTheBaselinesSearchTrialCount) {
  add(k_of_winner, 1, 2, 0.010);
  Measurement searched = steady(0.02);
  searched.total_samples = searched.window_samples = 4000.0;
  searched.window_steps = 400.0;
  searched.phases["evaluation"] = {.count = 1.0, .seconds = 10.0, .spacing_samples = 4000.0};
  trials_[0].objectives = {
      planned_time(study_.planned_run, *trials_[0].measurement, &searched).value};
  EXPECT_NEAR(shared(&searched)[0].objectives[0], 12.0, 1e-9) << "one in five thousand samples";
}

TEST_F(SharedPhasesTest, StallsAndWholeRunsAreNotShared) {
  add(k_of_winner, 1, 2, 0.010).measurement->phases["stall"] = {
      .count = 1.0, .seconds = 5.0, .spacing_samples = k_run_samples};
  add(k_of_baseline, 1, 1, 0.020, 4.0).measurement->whole_run = true;
  EXPECT_TRUE(shared().empty());
  add(k_of_winner, 2, 2, 0.010, 2.0);
  trials_[0].objectives = {15.0};  // with its stall
  const auto runs = shared();
  EXPECT_NEAR(runs[0].objectives[0], 16.0, 1e-9);
  EXPECT_NEAR(runs[2].objectives[0], 11.0, 1e-9) << "without the other run's stall";
  EXPECT_DOUBLE_EQ(runs[1].objectives[0], trials_[1].objectives[0]);
}

TEST_F(SharedPhasesTest, AnEvaluationInOneOfFourLaunchesDecidesNothing) {
  trials_ = {completed(1, 20.0, 0.02), completed(2, 16.0, 0.02)};
  trials_.front().purpose = TrialPurpose::baseline;
  for (int round = 1; round <= 4; ++round) {
    add(k_of_winner, round, 2, 0.016, round == 2 ? 20.0 : 0.0);
    add(k_of_baseline, round, 1, 0.020);
  }
  const Standing standing(ranking_rules(study_), trials_);
  const Confirmation confirmation(study_, standing);
  ASSERT_EQ(confirmation.finalists().size(), 1U);
  const Finalist& finalist = confirmation.finalists().front();
  EXPECT_EQ(finalist.verdict, Verdict::faster);
  // 20 and 16 s, each with an eighth of the evaluation.
  EXPECT_NEAR(finalist.speed_up.ratio, 22.5 / 18.5, 1e-6);
}

}  // namespace
}  // namespace steptune
