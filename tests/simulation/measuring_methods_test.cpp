// SPDX-License-Identifier: Apache-2.0
// Tests simulated methods of comparing two commands (benchmarks/measuring_methods).
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "benchmarks/measuring_methods/methods.hpp"
#include "common/median.hpp"

namespace steptune::measuring_methods {
namespace {

struct Intervals {
  double covered = 0.0;     ///< share that contains the truth
  double half_width = 0.0;  ///< median
};

Intervals intervals_of(Method method, Model model) {
  constexpr int k_comparisons = 100;
  std::vector<double> half_widths;
  double covered = 0.0;
  for (int i = 0; i < k_comparisons; ++i) {
    model.seed = 300 + static_cast<std::uint64_t>(i);
    const Estimate estimate = compare(method, model);
    covered += estimate.low <= model.ratio && model.ratio <= estimate.high ? 1.0 : 0.0;
    half_widths.push_back(0.5 * (estimate.high - estimate.low));
  }
  return {covered / k_comparisons, median(half_widths).value()};
}

TEST(MeasuringMethods, IntervalsOfOneLaunchMissTheTruthIfLaunchesDiffer) {
  Model model;
  model.launch_variation = 0.1;
  EXPECT_LE(intervals_of(Method::google_benchmark, model).covered, 0.2);
  EXPECT_GE(intervals_of(Method::in_turns, model).covered, 0.9);
  model.launch_variation = 0.0;
  EXPECT_GE(intervals_of(Method::google_benchmark, model).covered, 0.85);
}

TEST(MeasuringMethods, TurnsGiveNarrowerIntervalsBesideNeighbours) {
  Model model;
  model.launch_variation = 0.01;
  model.neighbours = 2;
  const Intervals in_turns = intervals_of(Method::in_turns, model);
  EXPECT_GE(in_turns.covered, 0.9);
  EXPECT_LT(in_turns.half_width, 0.7 * intervals_of(Method::one_by_one, model).half_width);
  EXPECT_LT(in_turns.half_width, 0.7 * intervals_of(Method::hyperfine, model).half_width);
}

TEST(MeasuringMethods, EachMethodFindsTheRatioOnAQuietMachine) {
  for (const Method method : k_methods) {
    const Estimate estimate = compare(method, Model{});
    EXPECT_NEAR(estimate.ratio, 1.1, 0.02) << to_text(method);
    EXPECT_LT(estimate.low, estimate.high) << to_text(method);
    const Estimate again = compare(method, Model{});
    EXPECT_DOUBLE_EQ(again.low, estimate.low) << to_text(method);
  }
}

}  // namespace
}  // namespace steptune::measuring_methods
