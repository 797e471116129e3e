// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/earlier_pairs.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

constexpr int k_judgements = 400;
constexpr double k_freedom = 5.0;
constexpr double k_pair_deviation = 0.04;

/// Returns judgements of six pairs. The logarithm of their standard deviation has the standard
/// deviation `spread`.
std::vector<Scatter> judgements(double spread) {
  Rng rng(7, "earlier_pairs", 0);
  std::vector<Scatter> result;
  for (int i = 0; i < k_judgements; ++i) {
    const double deviation = k_pair_deviation * std::exp(spread * rng.normal());
    double squares = 0.0;
    for (int pair = 0; pair < static_cast<int>(k_freedom); ++pair)
      squares += std::pow(deviation * rng.normal(), 2);
    result.push_back({squares, k_freedom});
  }
  return result;
}

TEST(EarlierPairs, OnePairShowsNoScatter) {
  EXPECT_DOUBLE_EQ(pooled_scatter({}).degrees_of_freedom, 0.0);
  EXPECT_DOUBLE_EQ(pooled_scatter({{0.0, 0.0}, {0.0, 0.0}}).degrees_of_freedom, 0.0);
}

TEST(EarlierPairs, CommandsOfAJudgementCountAsOne) {
  const Scatter judgement = scatter_of_judgement({{0.02, 2.0}, {0.07, 4.0}, {0.0, 0.0}});
  EXPECT_NEAR(judgement.squares, 0.045, 1e-12);
  EXPECT_DOUBLE_EQ(judgement.degrees_of_freedom, 3.0);
  EXPECT_DOUBLE_EQ(scatter_of_judgement({{0.0, 0.0}}).degrees_of_freedom, 0.0);
}

TEST(EarlierPairs, JudgementsWithTheSameScatterCountInFull) {
  const Scatter pairs = pooled_scatter({{0.02, 2.0}, {0.04, 4.0}, {0.0, 0.0}});
  EXPECT_NEAR(pairs.deviation(), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(pairs.degrees_of_freedom, 6.0);
}

TEST(EarlierPairs, ScatterThatVariesByChanceCountsMuch) {
  const Scatter pairs = pooled_scatter(judgements(0.0));
  EXPECT_NEAR(pairs.deviation(), k_pair_deviation, 0.15 * k_pair_deviation);
  EXPECT_GT(pairs.degrees_of_freedom, 4.0 * k_freedom);
}

TEST(EarlierPairs, ScatterThatVariesMoreThanByChanceCountsLittle) {
  const Scatter pairs = pooled_scatter(judgements(0.8));
  EXPECT_GT(pairs.deviation(), k_pair_deviation);
  EXPECT_LT(pairs.degrees_of_freedom, 1.5 * k_freedom);
}

}  // namespace
}  // namespace steptune
