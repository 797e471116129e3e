// SPDX-License-Identifier: Apache-2.0
// Properties of a trial's ratio to the baseline for random programs, over fixed seeds.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/live/ratio_filter.hpp"

namespace steptune::live {
namespace {

/// Compares blocks of baseline and trial in turns. `scale`: the baseline's seconds per sample.
/// `drift`: factor by which the machine is slower at a time.
RatioFilter compared(
    std::uint64_t seed, double ratio, double scale, double noise, int blocks,
    const std::function<double(double)>& drift = [](double) { return 1.0; }) {
  Rng rng(seed, "blocks");
  RatioFilter filter;
  filter.begin_trial();
  double at_s = 0.0;
  for (int i = 0; i < blocks; ++i) {
    at_s += 20.0;
    const double level = scale * drift(at_s);
    filter.add_baseline(level * std::exp(noise * rng.normal()), 20.0, at_s);
    at_s += 20.0;
    filter.add_trial(ratio * scale * drift(at_s) * std::exp(noise * rng.normal()), 20.0, at_s);
  }
  filter.add_baseline(scale * drift(at_s + 20.0) * std::exp(noise * rng.normal()), 20.0,
                      at_s + 20.0);
  return filter;
}

TEST(RatioProperty, DoesNotDependOnTheLengthOfSteps) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto one = compared(seed, 0.7, 1.0, 0.02, 6).ratio();
    const auto thousandth = compared(seed, 0.7, 0.001, 0.02, 6).ratio();
    ASSERT_TRUE(one && thousandth);
    EXPECT_NEAR(one->value, thousandth->value, 1e-6) << seed;
    EXPECT_NEAR(one->half_width, thousandth->half_width, 1e-6) << seed;
  }
}

TEST(RatioProperty, IsExactWithoutNoise) {
  for (const double ratio : {0.25, 0.8, 1.0, 1.3, 6.0}) {
    const RatioFilter filter = compared(1, ratio, 0.05, 0.0, 4);
    ASSERT_TRUE(filter.ratio());
    EXPECT_NEAR(filter.ratio()->value, ratio, 1e-5 * ratio);
    ASSERT_TRUE(filter.level());
    EXPECT_NEAR(*filter.level(), 0.05, 1e-7);
  }
}

TEST(RatioProperty, IsMorePreciseWithMoreBlocks) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const double few = compared(seed, 0.9, 1.0, 0.03, 3).ratio()->half_width;
    const double many = compared(seed, 0.9, 1.0, 0.03, 20).ratio()->half_width;
    better += many < few ? 1 : 0;
  }
  EXPECT_GE(better, 19);
}

TEST(RatioProperty, IsRightOnAMachineThatSlowsDown) {
  // The machine slows down by a fifth during the comparison.
  const auto warming = [](double at_s) { return 1.0 + 0.2 * at_s / 1000.0; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto ratio = compared(seed, 0.9, 1.0, 0.005, 20, warming).ratio();
    ASSERT_TRUE(ratio);
    EXPECT_NEAR(ratio->value, 0.9, 0.015) << seed;
  }
}

}  // namespace
}  // namespace steptune::live
