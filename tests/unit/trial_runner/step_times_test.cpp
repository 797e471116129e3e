// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/step_times.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace steptune {
namespace {

StepNoise quiet() {
  StepNoise noise;
  noise.step = 0.0;
  noise.correlation = 0.0;
  noise.run = 0.0;
  noise.warmup_steps = 0.0;
  return noise;
}

TEST(StepTimes, WithoutNoiseAStepTakesOneUnitOfTime) {
  Rng rng(1, "steps");
  StepTimes times(quiet(), rng);
  EXPECT_EQ(times.take(1.0, rng), 1.0);
  EXPECT_EQ(times.take(1000.0, rng), 1000.0);
}

TEST(StepTimes, TheSlownessOfTheFirstStepDecays) {
  StepNoise noise = quiet();
  noise.warmup_steps = 10.0;
  noise.warmup_slowdown = 4.0;
  Rng rng(1, "steps");
  StepTimes times(noise, rng);
  EXPECT_NEAR(times.take(1.0, rng), 5.0, 1e-12);
  EXPECT_NEAR(times.take(1.0, rng), 1.0 + 4.0 * std::exp(-0.1), 1e-12);
}

TEST(StepTimes, ManyStepsAtOnceTakeAsLongAsOneByOne) {
  StepNoise noise = quiet();
  noise.warmup_steps = 10.0;
  noise.warmup_slowdown = 4.0;
  Rng rng(1, "steps");
  StepTimes at_once(noise, rng);
  StepTimes one_by_one(noise, rng);
  double sum = 0.0;
  for (int i = 0; i < 100; ++i)
    sum += one_by_one.take(1.0, rng);
  EXPECT_NEAR(at_once.take(100.0, rng), sum, 1e-9);
}

TEST(StepTimes, ARunHasASpeedOfItsOwn) {
  StepNoise noise = quiet();
  noise.run = 0.1;
  double sum = 0.0;
  double squares = 0.0;
  constexpr std::uint64_t k_runs = 2000;
  for (std::uint64_t run = 0; run < k_runs; ++run) {
    Rng rng(1, "steps", run);
    StepTimes times(noise, rng);
    const double first = times.take(1.0, rng);
    ASSERT_EQ(times.take(1.0, rng), first) << "the same in all steps of a run";
    sum += first;
    squares += first * first;
  }
  const double mean = sum / k_runs;
  EXPECT_NEAR(mean, 1.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / k_runs - mean * mean), 0.1, 0.01);
}

TEST(StepTimes, NeighboursCorrelateAsConfigured) {
  StepNoise noise = quiet();
  noise.step = 0.05;
  noise.correlation = 0.6;
  Rng rng(3, "steps");
  StepTimes times(noise, rng);
  std::vector<double> deviations;
  for (int i = 0; i < 20'000; ++i)
    deviations.push_back(times.take(1.0, rng) - 1.0);
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 1; i < deviations.size(); ++i) {
    products += deviations[i] * deviations[i - 1];
    squares += deviations[i] * deviations[i];
  }
  EXPECT_NEAR(products / squares, 0.6, 0.03);
  EXPECT_NEAR(std::sqrt(squares / 20'000), 0.05, 0.003);
}

TEST(StepTimes, StallsComeAtRandomAsOftenAndAsLongAsConfigured) {
  StepNoise noise = quiet();
  noise.stall_period_steps = 50.0;
  noise.stall_steps = 10.0;
  Rng rng(7, "steps");
  StepTimes times(noise, rng);
  int stalled = 0;
  double one_by_one = 0.0;
  for (int i = 0; i < 50'000; ++i) {
    const double step = times.take(1.0, rng);
    stalled += step >= 11.0 ? 1 : 0;
    one_by_one += step;
  }
  // 50 000 steps with one stall in 50 steps have 1000 stalls of 10 steps each.
  EXPECT_NEAR(stalled, 1000, 100) << "three standard deviations of a Poisson count";
  EXPECT_NEAR(one_by_one, 60'000.0, 1'000.0);
  EXPECT_NEAR(times.take(50'000.0, rng), 60'000.0, 1'000.0)
      << "the same if all steps are drawn at once";
}

TEST(StepTimes, AreAlwaysPositive) {
  StepNoise noise = quiet();
  noise.step = 10.0;
  noise.run = 10.0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Rng rng(5, "steps", run);
    StepTimes times(noise, rng);
    for (const double steps : {1.0, 2.0, 100.0})
      ASSERT_GT(times.take(steps, rng), 0.0);
  }
}

}  // namespace
}  // namespace steptune
