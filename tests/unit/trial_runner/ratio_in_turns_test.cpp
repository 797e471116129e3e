// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/ratio_in_turns.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

/// Returns the ends of `count` turns of half a second each. `step_s`: time of a step in a turn.
std::vector<Interval> turns_of(int count, const std::function<double(int)>& step_s) {
  std::vector<Interval> ends;
  Interval end;
  for (int turn = 0; turn < count; ++turn) {
    end.samples += 0.5 / step_s(turn);
    end.seconds += 0.5;
    ends.push_back(end);
  }
  return ends;
}

/// A neighbour slows every third turn.
double in_bursts(int turn) {
  return turn % 3 == 0 ? 0.15 : 0.1;
}

TEST(RatioInTurns, ANeighbourOfBothDoesNotCount) {
  const auto slower = [](int turn) { return 1.2 * in_bursts(turn); };
  const auto ratio = ratio_in_turns(turns_of(9, slower), turns_of(10, in_bursts));
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->ratio, 1.2, 1e-12);
  EXPECT_NEAR(ratio->relative_error, 0.0, 1e-12);
  EXPECT_EQ(ratio->degrees_of_freedom, 5.0) << "nine turns without a quarter of warm-up, minus one";
}

TEST(RatioInTurns, TheFirstQuarterIsWarmUp) {
  const auto slow_start = [](int turn) { return turn < 2 ? 3.0 : 0.1; };
  const auto ratio = ratio_in_turns(turns_of(8, slow_start), turns_of(8, [](int) { return 0.1; }));
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->ratio, 1.0, 1e-12);
}

TEST(RatioInTurns, TooFewTurnsAreNotCompared) {
  const auto even = [](int) { return 0.1; };
  EXPECT_FALSE(ratio_in_turns(turns_of(5, even), turns_of(3, even)));
  EXPECT_TRUE(ratio_in_turns(turns_of(4, even), turns_of(6, even)));
  EXPECT_FALSE(ratio_in_turns({}, turns_of(6, even)));
}

TEST(RatioInTurns, TheErrorIsThatOfTurnsThatDifferByChance) {
  Rng rng(7, "turns", 0);
  double squares = 0.0, stated = 0.0;
  constexpr int k_repeats = 400;
  for (int repeat = 0; repeat < k_repeats; ++repeat) {
    const auto random = [&rng](int) { return 0.1 * std::exp(0.1 * rng.normal()); };
    const auto ratio = ratio_in_turns(turns_of(12, random), turns_of(12, random));
    ASSERT_TRUE(ratio);
    squares += std::pow(std::log(ratio->ratio), 2);
    stated += std::pow(ratio->relative_error, 2);
  }
  EXPECT_NEAR(std::sqrt(stated / squares), 1.0, 0.15);
}

TEST(RatioInTurns, ATrialTakesTheBaselinesTimeTimesTheRatio) {
  Measurement baseline;
  baseline.step_seconds_per_sample = 0.2;
  Measurement measured;
  measured.step_seconds_per_sample = 0.3;
  measured.step_half_width_s = 0.04;
  measured.seconds_per_sample = 0.31;  // 0.01 s of phases
  measured.half_width_s = 0.05;
  set_time_by_ratio({0.5, 0.01, 5.0}, baseline, measured);
  EXPECT_NEAR(measured.step_seconds_per_sample, 0.1, 1e-12);
  EXPECT_NEAR(measured.seconds_per_sample, 0.11, 1e-12);
  EXPECT_NEAR(measured.step_half_width_s, 0.1 * 0.01 * 2.571, 1e-5) << "Student's t, 5 degrees";
  EXPECT_NEAR(measured.half_width_s, std::hypot(measured.step_half_width_s, 0.03), 1e-12);
  EXPECT_EQ(measured.status, MeasurementStatus::steady);
}

}  // namespace
}  // namespace steptune
