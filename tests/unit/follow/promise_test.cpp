// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/promise.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {
namespace {

Standing standing_of(std::vector<TrialRecord> trials = {}) {
  return Standing(ranking_rules(time_study()), std::move(trials));
}

TrialRecord measured(std::int64_t number, double seconds_per_sample) {
  TrialRecord trial = completed(number, 1000.0 * seconds_per_sample);
  trial.measurement = steady(seconds_per_sample, 0.0, 7.0);
  return trial;
}

TEST(Promise, IncludesTheVariationOfLaunches) {
  const auto promise = promise_of(time_study(), measured(4, 0.5), standing_of(), std::nullopt);
  ASSERT_TRUE(promise) << promise.error().text();
  EXPECT_DOUBLE_EQ(promise->seconds_per_sample.value, 0.5);
  EXPECT_NEAR(promise->seconds_per_sample.half_width,
              1.96 * std::sqrt(2.0) * LaunchVariation{}.relative * 0.5, 1e-4);
  ASSERT_TRUE(promise->run_s());
  EXPECT_DOUBLE_EQ(promise->run_s()->value, 507.0);
}

TEST(Promise, HasTheMachinesStateInTheWindow) {
  TrialRecord trial = measured(4, 0.5);
  trial.measurement->window_s = 30.0;
  const double begin_s = trial.measurement->window_begin_s();
  TrialTrace trace;
  trace.machine = {{.from_s = begin_s - 1.0, .to_s = begin_s, .other_load = 0.5},
                   {.from_s = begin_s, .to_s = begin_s + 1.0, .other_load = 0.25}};
  const auto promise = promise_of(time_study(), trial, standing_of(), std::nullopt, trace);
  ASSERT_TRUE(promise);
  ASSERT_EQ(promise->machine.size(), 1U);
  EXPECT_EQ(promise->machine[0].other_load, 0.25);
}

TEST(Promise, HasThePlansTimesOfBothTrials) {
  TrialRecord baseline = measured(1, 0.9);
  baseline.purpose = TrialPurpose::baseline;
  const TrialRecord best = measured(4, 0.5);
  const TrialRecord other = measured(5, 0.6);
  const Standing standing = standing_of({baseline, best, other});
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.incumbent_objectives = {550.0};
  recommendation.incumbent_half_widths = {20.0};
  recommendation.baseline_objectives = {800.0};
  recommendation.baseline_half_widths = {30.0};
  const auto run_of = [&](const TrialRecord& trial) {
    return promise_of(time_study(), trial, standing, recommendation)->run_s().value();
  };
  EXPECT_DOUBLE_EQ(run_of(best).value, 550.0);
  EXPECT_DOUBLE_EQ(run_of(best).half_width, 20.0);
  EXPECT_DOUBLE_EQ(run_of(baseline).value, 800.0);
  EXPECT_DOUBLE_EQ(run_of(baseline).half_width, 30.0);
  EXPECT_DOUBLE_EQ(run_of(other).value, 607.0) << "only the trial itself was measured";

  // 543 s is the time of 550 s without the start.
  recommendation.incumbent_half_widths = {std::nan("")};
  EXPECT_DOUBLE_EQ(run_of(best).value, 550.0);
  EXPECT_NEAR(run_of(best).half_width, 1.96 * std::sqrt(2.0) * standing.launches().relative * 543.0,
              0.1);
  recommendation.incumbent_half_widths.clear();
  EXPECT_NEAR(run_of(best).half_width, 1.96 * std::sqrt(2.0) * standing.launches().relative * 543.0,
              0.1);
  for (const double unknown : {std::nan(""), 0.0, std::numeric_limits<double>::infinity()}) {
    recommendation.incumbent_objectives = {unknown};
    EXPECT_DOUBLE_EQ(run_of(best).value, 507.0) << "equals the measured value";
  }
  recommendation.incumbent_objectives.clear();
  EXPECT_DOUBLE_EQ(run_of(best).value, 507.0);
  EXPECT_DOUBLE_EQ(
      promise_of(time_study(), baseline, standing_of(), recommendation)->run_s()->value, 907.0)
      << "without its standing, nobody knows that it is the baseline";
}

TEST(Promise, APromisedRateIncludesTheStartsOfFreshRuns) {
  // The study's first start read from storage, later ones from memory.
  TrialRecord baseline = measured(1, 0.5);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement->startup_s = 107.0;
  std::vector<TrialRecord> trials{baseline};
  for (std::int64_t number = 2; number <= 4; ++number) {
    TrialRecord fresh =
        confirming(number, TrialPurpose::confirm_baseline, static_cast<int>(number) - 1, 1, 507.0);
    fresh.measurement = steady(0.5, 0.0, 7.0);
    trials.push_back(fresh);
  }
  // Other programs delayed this start, so the plan has the figures of another run of this round.
  TrialRecord delayed = trials.back();
  delayed.number = 5;
  delayed.measurement->startup_s = 107.0;
  delayed.spent_s = delayed.disturbed_s = 10.0;
  trials.push_back(delayed);
  Recommendation recommendation;
  recommendation.claim = Claim::nothing_faster;
  recommendation.incumbent_trial = 1;
  recommendation.incumbent_objectives = recommendation.baseline_objectives = {507.0};
  const auto of_plan = [&] {
    return promise_of(time_study(), baseline, standing_of(trials), recommendation);
  };
  EXPECT_DOUBLE_EQ(of_plan()->seconds_per_sample.value, 0.5);
  EXPECT_DOUBLE_EQ(of_plan()->run_s()->value, 507.0);
  recommendation.claim = Claim::unconfirmed;
  EXPECT_DOUBLE_EQ(of_plan()->seconds_per_sample.value, 0.4) << "the trial's own start takes 107 s";
  EXPECT_DOUBLE_EQ(of_plan()->run_s()->value, 507.0);
  recommendation.incumbent_objectives = recommendation.baseline_objectives = {100.0};
  EXPECT_DOUBLE_EQ(of_plan()->seconds_per_sample.value, 0.5)
      << "the 100 s are less than its start alone";
}

TEST(Promise, IsTheTimeOfThePlanAndNotItsCost) {
  StudySpec study = time_study();
  study.objectives.insert(study.objectives.begin(), Objective{"cost", {}});
  const TrialRecord best = measured(4, 0.5);
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.incumbent_objectives = {3.0, 550.0};
  recommendation.incumbent_half_widths = {0.1, 20.0};
  const auto promise = promise_of(study, best, standing_of({best}), recommendation);
  EXPECT_DOUBLE_EQ(promise->run_s()->value, 550.0);
  EXPECT_DOUBLE_EQ(promise->run_s()->half_width, 20.0);
}

TEST(Promise, IsARateIfThePlanHasNoLength) {
  StudySpec study = time_study();
  study.planned_run.samples.reset();
  const auto promise = promise_of(study, measured(4, 0.5), standing_of(), std::nullopt);
  EXPECT_DOUBLE_EQ(promise->seconds_per_sample.value, 0.5) << "without the start";
  EXPECT_FALSE(promise->run_s());
}

TEST(Promise, ContainsWhatTheTrialShowed) {
  TrialRecord trial = measured(4, 0.5);
  trial.measurement->phases["evaluation"].seconds = 10.0;
  trial.measurement->parts["data"] = 0.1;
  StudySpec study = time_study();
  study.planned_run.batch_size = document::Formula::constant(32.0, "32");
  const auto promise = promise_of(study, trial, standing_of(), std::nullopt);
  ASSERT_TRUE(promise) << promise.error().text();
  EXPECT_EQ(promise->trial, 4);
  EXPECT_EQ(promise->configuration, trial.configuration);
  EXPECT_EQ(promise->startup_s, 7.0);
  EXPECT_EQ(promise->phases.at("evaluation").seconds, 10.0);
  EXPECT_EQ(promise->parts.at("data"), 0.1);
  EXPECT_EQ(promise->samples_per_step, 32.0);
}

TEST(Promise, HasThePhasesOfTheBaseline) {
  TrialRecord baseline = measured(1, 0.5);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement->phases["evaluation"].count = 2.0;
  baseline.measurement->phases["evaluation"].seconds = 10.0;
  baseline.measurement->phases["evaluation"].seconds_error = 0.1;
  baseline.measurement->phases["evaluation"].period_samples = 100.0;
  baseline.measurement->phases["evaluation"].period_error = 0.0;
  const auto promise =
      promise_of(time_study(), measured(4, 0.2), standing_of({baseline}), std::nullopt);
  // Its own 0.2 s, and the baseline's 10 s every 100 samples.
  EXPECT_NEAR(promise->seconds_per_sample.value, 0.3, 1e-12);
  EXPECT_EQ(promise->phases.at("evaluation").seconds, 10.0)
      << "the evaluation is already in the promise";
}

TEST(Promise, HasPhasesOfFreshRunsAndThePlan) {
  StudySpec study = time_study();
  study.planned_run.phases["evaluation"] = {2000.0, std::nullopt, std::nullopt};
  study.planned_run.phases["checkpoint"] = {500.0, std::nullopt, 3.0};
  TrialRecord fresh = measured(9, 0.2);
  fresh.purpose = TrialPurpose::confirm_incumbent;
  fresh.configuration = measured(4, 0.2).configuration;
  fresh.measurement->window_samples = 1e6;
  PhaseEstimate seen;
  seen.count = 3.0;
  seen.seconds = 10.0;
  seen.period_samples = 100.0;
  fresh.measurement->phases = {{"evaluation", seen}, {"stall", seen}};
  TrialRecord baseline = measured(1, 0.5);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement->phases = {{"stall 2", seen}};
  const auto promise =
      promise_of(study, measured(4, 0.2), standing_of({baseline, fresh}), std::nullopt);
  ASSERT_EQ(promise->phases.size(), 3U) << "stalls are the configuration's own";
  EXPECT_EQ(promise->phases.at("evaluation").period_samples, 2000.0);
  EXPECT_EQ(promise->phases.at("evaluation").seconds, 10.0);
  EXPECT_EQ(promise->phases.at("checkpoint").seconds, 3.0);
  EXPECT_EQ(promise->phases.at("stall").period_samples, 100.0);
}

TEST(Promise, ATrialThatWasNotMeasuredPromisesNothing) {
  const auto promise = promise_of(time_study(), completed(4, 1.0), standing_of(), std::nullopt);
  ASSERT_FALSE(promise);
  EXPECT_EQ(promise.error().kind, ErrorKind::not_found);
  for (const auto& [seconds, half_width] : std::vector<std::pair<double, double>>{
           {0.0, 0.1}, {std::nan(""), 0.1}, {k_infinity, 0.1}, {0.5, k_infinity}}) {
    TrialRecord trial = completed(4, 1.0);
    trial.measurement = steady(seconds, half_width);
    EXPECT_FALSE(promise_of(time_study(), trial, standing_of(), std::nullopt))
        << seconds << " +- " << half_width;
  }
}

TEST(Promise, NeedsNoMeasuredBaseline) {
  TrialRecord baseline = completed(1, 1.0);
  baseline.purpose = TrialPurpose::baseline;
  const auto promise =
      promise_of(time_study(), measured(4, 0.5), standing_of({baseline}), std::nullopt);
  ASSERT_TRUE(promise) << promise.error().text();
  EXPECT_DOUBLE_EQ(promise->seconds_per_sample.value, 0.5);
}

}  // namespace
}  // namespace steptune
