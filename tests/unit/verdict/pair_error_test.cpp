// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/pair_error.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/measure/quantiles.hpp"

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
    const PairError error({static_cast<double>(pairs), squares_of(rng, pairs, of_pair)}, 0.0,
                          known);
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
  const PairError error({4.0, 2.0 * 0.03 * 0.03 * 3.0}, 0.0, known);
  EXPECT_NEAR(error.standard_error(), 0.03 * std::sqrt(2.0 / 4.0), 0.001);
  EXPECT_NEAR(error.quantile(k_tail), 1.96 * error.standard_error(), 1e-4);
}

TEST(PairError, IsNeverLessThanTheVariationWithinRuns) {
  const PairError error({9.0, 0.0}, 0.09, {});
  EXPECT_GE(error.standard_error(), 0.1);
  EXPECT_GE(error.quantile(k_tail), 1.959 * 0.1);
}

TEST(PairError, GrowsWithTheScatterOfPairsAndOfLaunches) {
  const double agreeing = PairError({3.0, 0.0}, 0.0, {}).quantile(k_tail);
  EXPECT_GT(PairError({3.0, 0.02}, 0.0, {}).quantile(k_tail), 5.0 * agreeing);
  EXPECT_GT(PairError({3.0, 0.0}, 0.0, {{{0.02, 2.0}, 0.0}}).quantile(k_tail), 2.0 * agreeing);
}

/// Returns the share of simulated comparisons whose error exceeds the upper quantile at `k_tail`,
/// in either direction. Launches differ by 3 %, and the machine disturbs both runs of a pair alike,
/// by `common` times as much. Launches of the second configuration differ by `second` times 3 %.
double share_outside(int pairs, double common, double second = 1.0) {
  constexpr std::uint64_t k_comparisons = 4000;
  constexpr double k_deviation = 0.03;
  int outside = 0;
  for (std::uint64_t seed = 0; seed < k_comparisons; ++seed) {
    Rng rng(6, "pair_error", seed);
    std::vector<double> differences;
    std::vector<double> sums;
    for (int i = 0; i < pairs; ++i) {
      const double disturbance = common * k_deviation * rng.normal();
      const double a = disturbance + k_deviation * rng.normal();
      const double b = disturbance + second * k_deviation * rng.normal();
      differences.push_back(a - b);
      sums.push_back(a + b);
    }
    const Scatter scatter = scatter_of(differences);
    const PairError error = PairError::by_pairs(
        {static_cast<double>(pairs), scatter.squares, scatter_of(sums).squares}, {}, 1e-6);
    outside += std::abs(scatter.mean) > error.quantile(k_tail) ? 1 : 0;
  }
  return outside / static_cast<double>(k_comparisons);
}

TEST(PairError, IntervalsWithSumsContainTheTruthWhateverTheMachineDoes) {
  for (const int pairs : {2, 3, 5, 12}) {
    for (const double common : {0.0, 0.5, 1.0, 5.0})
      EXPECT_LT(share_outside(pairs, common), 0.07) << pairs << " pairs, " << common;
  }
}

TEST(PairError, IntervalsAreLittleTooNarrowIfOneConfigurationsLaunchesDifferMore) {
  // Sums and differences correlate then: about 8 % of the intervals do not contain the truth.
  for (const int pairs : {3, 5})
    EXPECT_LT(share_outside(pairs, 0.0, 1.0 / 3.0), 0.11) << pairs;
}

TEST(PairError, SumsNarrowTheIntervalOfFewPairs) {
  const auto quantile = [](double sum_squares) {
    return PairError::by_pairs({3.0, 0.002, sum_squares}, {}, 1e-6).quantile(0.01);
  };
  EXPECT_LT(quantile(0.002), 0.65 * quantile(k_nan));
  EXPECT_LT(quantile(0.2), 2.5 * quantile(k_nan)) << "the machine disturbs both runs alike";
}

TEST(PairError, WithoutSumsPairsHaveStudentsT) {
  const auto by_pairs = [](const PairScatter& scatter, const Scatter& earlier) {
    return PairError::by_pairs(scatter, earlier, 1e-9).quantile(k_tail);
  };
  const double of_mean = std::sqrt(0.002 / 4.0 / 5.0);
  EXPECT_NEAR(by_pairs({5.0, 0.002}, {}), student_quantile(4.0, k_tail) * of_mean, 0.001 * of_mean);
  EXPECT_NEAR(by_pairs({5.0, 0.002}, {0.004, 8.0}), student_quantile(12.0, k_tail) * of_mean,
              0.001 * of_mean);
  EXPECT_GE(PairError::by_pairs({5.0, 0.0}, {}, 0.005).quantile(k_tail),
            1.95 * std::sqrt(0.005 / 5.0))
      << "the least variance";
}

TEST(PairError, AllowsForALeastVarianceAboveItsRange) {
  EXPECT_NEAR(PairError::by_pairs({4.0, 0.0}, {}, 100.0).quantile(k_tail),
              1.96 * std::sqrt(100.0 / 4.0), 0.01);
}

TEST(PairError, AllowsForScatterFarAboveItsRange) {
  EXPECT_GT(PairError({3.0, 50.0}, 0.0, {}).quantile(k_tail), 3.0);
}

}  // namespace
}  // namespace steptune
