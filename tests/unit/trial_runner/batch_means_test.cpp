// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/batch_means.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/measure/warmup.hpp"

namespace steptune {
namespace {

std::vector<Interval> constant(std::size_t count, double seconds, double samples = 1.0) {
  return std::vector<Interval>(count, Interval{samples, seconds});
}

/// Returns independent steps of one sample and about one second, with this standard deviation.
std::vector<Interval> noisy(std::size_t count, double deviation_s, std::uint64_t seed) {
  Rng rng(7, "batch_means_test", seed);
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < count; ++i)
    intervals.push_back({1.0, 1.0 + deviation_s * rng.normal()});
  return intervals;
}

TEST(BatchMeans, StepsWithoutTimeOrSamplesGiveNoRate) {
  EXPECT_TRUE(std::isnan(estimate_rate({}).seconds_per_sample));
  EXPECT_TRUE(std::isnan(estimate_rate(constant(20, 0.0)).seconds_per_sample));
  EXPECT_TRUE(std::isnan(estimate_rate(constant(20, 1.0, 0.0)).seconds_per_sample));
}

TEST(BatchMeans, AFewStepsGiveAMeanWithoutAConfidenceInterval) {
  const RateEstimate estimate = estimate_rate(constant(7, 3.0, 2.0));
  EXPECT_EQ(estimate.seconds_per_sample, 1.5);
  EXPECT_TRUE(std::isinf(estimate.half_width_s));
}

TEST(BatchMeans, EqualStepsAreCertain) {
  const RateEstimate estimate = estimate_rate(constant(100, 2.0));
  EXPECT_EQ(estimate.seconds_per_sample, 2.0);
  EXPECT_NEAR(estimate.half_width_s, 0.0, 1e-12);
}

TEST(BatchMeans, TheMeanIsWeightedBySamples) {
  std::vector<Interval> intervals = constant(10, 1.0);
  intervals.push_back({90.0, 180.0});
  EXPECT_DOUBLE_EQ(estimate_rate(intervals).seconds_per_sample, 1.9);
}

TEST(BatchMeans, OneDominantStepGivesNoConfidenceInterval) {
  std::vector<Interval> intervals = constant(10, 1.0);
  intervals.push_back({1e9, 1e9});
  EXPECT_TRUE(std::isinf(estimate_rate(intervals).half_width_s));
}

TEST(BatchMeans, IndependentStepsHaveTheIntervalOfTheirMean) {
  // 1.96 sigma / sqrt(n), wider by Student's t and by the difference of the two halves.
  constexpr std::size_t k_steps = 4096;
  const double expected = 1.96 * 0.1 / std::sqrt(static_cast<double>(k_steps));
  double sum = 0.0;
  constexpr int k_runs = 40;
  for (std::uint64_t run = 0; run < k_runs; ++run) {
    const RateEstimate estimate = estimate_rate(noisy(k_steps, 0.1, run));
    EXPECT_LT(estimate.half_width_s, 6.0 * expected);
    sum += estimate.half_width_s;
  }
  EXPECT_GT(sum / k_runs, 0.9 * expected);
  EXPECT_LT(sum / k_runs, 2.0 * expected);
}

TEST(BatchMeans, CorrelatedStepsHaveAWiderInterval) {
  Rng rng(7, "batch_means_test");
  std::vector<Interval> shuffled;
  std::vector<Interval> blocks;  // the same step times, each forty times in a row
  for (int i = 0; i < 50; ++i) {
    const double seconds = 1.0 + 0.1 * rng.normal();
    for (int j = 0; j < 40; ++j)
      blocks.push_back({1.0, seconds});
  }
  for (std::size_t j = 0; j < 40; ++j) {
    for (std::size_t i = 0; i < 50; ++i)
      shuffled.push_back(blocks[i * 40 + j]);
  }
  EXPECT_NEAR(estimate_rate(blocks).seconds_per_sample, estimate_rate(shuffled).seconds_per_sample,
              1e-12);
  EXPECT_GT(estimate_rate(blocks).half_width_s, 2.0 * estimate_rate(shuffled).half_width_s);
}

TEST(BatchMeans, TwoHalvesThatDifferWidenTheInterval) {
  std::vector<Interval> intervals = constant(50, 1.0);
  for (const Interval& slow : constant(50, 1.2))
    intervals.push_back(slow);
  const RateEstimate estimate = estimate_rate(intervals);
  EXPECT_NEAR(estimate.seconds_per_sample, 1.1, 1e-12);
  EXPECT_GE(estimate.half_width_s, 0.1);
}

TEST(SignificantDrift, IsFoundInARampAndNotInNoise) {
  std::vector<Interval> ramp;
  for (int i = 0; i < 200; ++i)
    ramp.push_back({1.0, 1.0 + 0.001 * i});
  // It rises from 1 to 1.2 around a mean of 1.1, less half a batch at both ends.
  EXPECT_NEAR(significant_drift(ramp), 0.2 / 1.1 * 0.9, 0.005);
  int found = 0;
  for (std::uint64_t run = 0; run < 200; ++run)
    found += significant_drift(noisy(200, 0.1, run)) == 0.0 ? 0 : 1;
  EXPECT_LE(found, 2) << "p < 0.001";
}

TEST(SignificantDrift, ASpeedUpIsNegative) {
  std::vector<Interval> ramp;
  for (int i = 0; i < 200; ++i)
    ramp.push_back({1.0, 1.2 - 0.001 * i});
  EXPECT_LT(significant_drift(ramp), -0.1);
}

TEST(SignificantDrift, IsZeroForFewOrEqualSteps) {
  EXPECT_EQ(significant_drift({}), 0.0);
  const std::vector<Interval> few{{1.0, 1.0}, {1.0, 2.0}, {1.0, 3.0}};
  EXPECT_EQ(significant_drift(few), 0.0);
  EXPECT_EQ(significant_drift(constant(100, 1.0)), 0.0);
}

TEST(Warmup, FewOrEqualStepsHaveNone) {
  EXPECT_EQ(find_warmup({}).intervals, 0U);
  const std::vector<Interval> few{{1.0, 30.0}, {1.0, 1.0}, {1.0, 1.0}};
  EXPECT_EQ(find_warmup(few).intervals, 0U);
  EXPECT_EQ(find_warmup(constant(200, 1.0)).intervals, 0U);
}

TEST(Warmup, CoversSlowAndFastBeginnings) {
  for (const double first_s : {10.0, 0.1}) {
    std::vector<Interval> intervals = noisy(200, 0.01, 1);
    for (std::size_t i = 0; i < 20; ++i)
      intervals[i].seconds = first_s;
    const Warmup warmup = find_warmup(intervals);
    EXPECT_GE(warmup.intervals, 20U) << first_s;
    EXPECT_LE(warmup.intervals, 30U) << first_s;
    EXPECT_FALSE(warmup.at_limit) << first_s;
  }
}

TEST(Warmup, AWarmupUpToTheMiddleMayBeLonger) {
  std::vector<Interval> intervals = constant(100, 5.0);
  for (std::size_t i = 50; i < intervals.size(); ++i)
    intervals[i].seconds = 1.0;
  EXPECT_TRUE(find_warmup(intervals).at_limit);
  EXPECT_EQ(find_warmup(intervals).intervals, 50U);
}

TEST(Warmup, IsFoundAmongTenSteps) {
  std::vector<Interval> intervals = constant(10, 1.0);
  intervals[0].seconds = 30.0;
  intervals[5].seconds = 1.01;
  intervals[8].seconds = 0.99;
  EXPECT_EQ(find_warmup(intervals).intervals, 1U);
}

}  // namespace
}  // namespace steptune
