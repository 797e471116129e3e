// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/promise.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/loop/fixture.hpp"
#include "tuner/loop/launch_variation.hpp"

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

TEST(Promise, IsTheRateOfThePlannedRunWithTheVariationOfLaunches) {
  const auto promise = promise_of(time_study(), measured(4, 0.5), standing_of(), std::nullopt);
  ASSERT_TRUE(promise) << promise.error().text();
  EXPECT_DOUBLE_EQ(promise->seconds_per_sample.value, 0.5);
  EXPECT_NEAR(promise->seconds_per_sample.half_width,
              1.96 * std::sqrt(2.0) * LaunchVariation{}.relative * 0.5, 1e-4);
  ASSERT_TRUE(promise->run_s());
  EXPECT_DOUBLE_EQ(promise->run_s()->value, 507.0);
}

TEST(Promise, IsWhatThePlanSaysOfTheRecommendedTrialAndTheBaseline) {
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
  EXPECT_DOUBLE_EQ(run_of(other).value, 607.0) << "nothing but its own trial speaks of it";

  recommendation.incumbent_half_widths = {std::nan("")};
  EXPECT_DOUBLE_EQ(run_of(best).value, 550.0);
  EXPECT_NEAR(run_of(best).half_width, 1.96 * std::sqrt(2.0) * standing.launches().relative * 543.0,
              0.1);
}

TEST(Promise, HoldsThePhasesThatTheBaselineShowed) {
  TrialRecord baseline = measured(1, 0.5);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement->phases["evaluation"].count = 2.0;
  baseline.measurement->phases["evaluation"].seconds = 10.0;
  baseline.measurement->phases["evaluation"].seconds_error = 0.1;
  baseline.measurement->phases["evaluation"].period_samples = 100.0;
  baseline.measurement->phases["evaluation"].period_error = 0.0;
  const auto promise =
      promise_of(time_study(), measured(4, 0.2), standing_of({baseline}), std::nullopt);
  EXPECT_NEAR(promise->seconds_per_sample.value, 0.3, 1e-12);
}

TEST(Promise, ATrialThatWasNotMeasuredPromisesNothing) {
  const auto promise = promise_of(time_study(), completed(4, 1.0), standing_of(), std::nullopt);
  ASSERT_FALSE(promise);
  EXPECT_EQ(promise.error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace steptune
