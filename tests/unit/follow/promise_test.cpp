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

TEST(Promise, TheConfirmingRunsCount) {
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.incumbent_objectives = {550.0};
  const TrialRecord trial = measured(4, 0.5);
  EXPECT_DOUBLE_EQ(
      promise_of(time_study(), trial, standing_of(), recommendation)->seconds_per_sample.value,
      0.55);
  recommendation.incumbent_trial = 5;
  EXPECT_DOUBLE_EQ(
      promise_of(time_study(), trial, standing_of(), recommendation)->seconds_per_sample.value, 0.5)
      << "they are those of another trial";
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
