// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/pair_error.hpp"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

constexpr double k_tail = 0.025;

/// Returns squared deviations of `count` normal values from their mean.
double squares_of(Rng& rng, int count, double deviation) {
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double value = deviation * rng.normal();
    sum += value;
    squares += value * value;
  }
  return squares - sum * sum / count;
}

/// Returns the share of simulated comparisons whose error exceeds the upper quantile at `k_tail`.
/// `deviation_of` draws the standard deviation among launches. Three launches of the baseline are
/// known.
template <typename Deviation>
double share_above(int pairs, const Deviation& deviation_of) {
  constexpr std::uint64_t k_comparisons = 4000;
  int above = 0;
  for (std::uint64_t seed = 0; seed < k_comparisons; ++seed) {
    Rng rng(5, "pair_error", seed);
    const double deviation = deviation_of(rng);
    const double of_pair = std::sqrt(2.0) * deviation;
    const KnownLaunches known{{{squares_of(rng, 3, deviation), 2.0}, 0.0}};
    const PairError error(squares_of(rng, pairs, of_pair), pairs, 0.0, known);
    above += of_pair / std::sqrt(pairs) * rng.normal() > error.quantile(k_tail) ? 1 : 0;
  }
  return above / static_cast<double>(k_comparisons);
}

TEST(PairError, IsCalibratedOverItsPrior) {
  const auto of_prior = [](Rng& rng) { return 0.015 * std::exp(rng.normal()); };
  for (const int pairs : {1, 2, 3, 8})
    EXPECT_NEAR(share_above(pairs, of_prior), k_tail, 0.008) << pairs;
}

TEST(PairError, AFewLaunchesThatDifferMuchOutweighThePrior) {
  for (const int pairs : {2, 3, 8})
    EXPECT_LT(share_above(pairs, [](Rng&) { return 0.1; }), 3.0 * k_tail) << pairs;
}

TEST(PairError, IsNormalIfManyLaunchesAreKnown) {
  const KnownLaunches known{{{0.03 * 0.03 * 1e6, 1e6}, 0.0}};
  const PairError error(2.0 * 0.03 * 0.03 * 3.0, 4.0, 0.0, known);
  EXPECT_NEAR(error.standard_error(), 0.03 * std::sqrt(2.0 / 4.0), 0.001);
  EXPECT_NEAR(error.quantile(k_tail), 1.96 * error.standard_error(), 1e-4);
}

TEST(PairError, IsNeverLessThanTheVariationWithinRuns) {
  const PairError error(0.0, 9.0, 0.09, {});
  EXPECT_GE(error.standard_error(), 0.1);
  EXPECT_GE(error.quantile(k_tail), 1.959 * 0.1);
}

TEST(PairError, GrowsWithTheScatterOfPairsAndOfLaunches) {
  const double agreeing = PairError(0.0, 3.0, 0.0, {}).quantile(k_tail);
  EXPECT_GT(PairError(0.02, 3.0, 0.0, {}).quantile(k_tail), 5.0 * agreeing);
  EXPECT_GT(PairError(0.0, 3.0, 0.0, {{0.02, 2.0, 0.0}}).quantile(k_tail), 2.0 * agreeing);
}

TEST(PairError, AllowsForScatterFarAboveItsRange) {
  EXPECT_GT(PairError(50.0, 3.0, 0.0, {}).quantile(k_tail), 3.0);
}

}  // namespace
}  // namespace steptune
