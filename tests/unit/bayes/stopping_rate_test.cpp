// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/stopping_rate.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/learning_curve.hpp"

namespace steptune::bayes {
namespace {

TEST(ImprovementRate, IsExpectedImprovementPerPriceWithoutStopping) {
  const Normal full{1.2, 0.25};
  const Stage whole[] = {{2.0, 0.0}};
  EXPECT_NEAR(log_stopping_rate(full, 1.0, whole),
              log_expected_improvement(full, 1.0) - std::log(2.0), 1e-12);
}

TEST(ImprovementRate, GrowsWithTheChanceToStopEarly) {
  const Normal full{1.5, 0.25};
  const Stage blind[] = {{0.5, 0.2499}, {0.5, 0.0}};
  const Stage telling[] = {{0.5, 0.02}, {0.5, 0.0}};
  const double never = log_expected_improvement(full, 1.0);
  EXPECT_NEAR(log_stopping_rate(full, 1.0, blind), never, 0.05);
  EXPECT_GT(log_stopping_rate(full, 1.0, telling), never + 0.2);
}

TEST(ImprovementRate, AStoppableTrialHasTheRateOfTheBestRule) {
  // Two stages. The first shows nearly everything, so the best rule continues if it ends below 1,
  // and then pays the second half of the price.
  const Normal full{1.5, 0.25};
  const Stage stages[] = {{0.2, 1e-6}, {0.8, 0.0}};
  Rng rng(1, "test/rate", 0);
  double best = 0.0;
  for (double limit = 0.3; limit < 1.01; limit += 0.05) {
    double gain = 0.0;
    double price = 0.0;
    for (int i = 0; i < 20'000; ++i) {
      const double value = full.mean + std::sqrt(full.variance) * rng.normal();
      price += 0.2;
      if (value > limit) continue;
      price += 0.8;
      gain += std::max(0.0, 1.0 - value);
    }
    best = std::max(best, gain / price);
  }
  EXPECT_NEAR(std::exp(log_stopping_rate(full, 1.0, stages)), best, 0.06 * best);
}

TEST(ImprovementRate, StaysFiniteWithoutExpectedImprovement) {
  const Stage stages[] = {{0.1, 1e-4}, {0.9, 0.0}};
  const double hopeless = log_stopping_rate({50.0, 1e-3}, 1.0, stages);
  EXPECT_TRUE(std::isfinite(hopeless));
  EXPECT_LT(hopeless, log_stopping_rate({1.1, 1e-3}, 1.0, stages));
}

TEST(LearningCurve, UsesRisingMilestonesWithDoubledEarlierErrors) {
  const Milestone milestones[] = {{0.25, {3.0}, {0.4}},
                                  {0.125, {9.0}, {0.4}},
                                  {0.5, {std::nan("")}, {0.3}},
                                  {0.5, {2.0}, {}},
                                  {1.0, {1.0}, {0.1}}};
  const auto curve = learning_curve_of(milestones);
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].fidelity, 0.25);
  EXPECT_EQ(curve[0].value, 3.0);
  EXPECT_EQ(curve[0].standard_error, 0.8);
  EXPECT_EQ(curve[1].value, 2.0);
  EXPECT_EQ(curve[1].standard_error, 0.0);
  EXPECT_EQ(curve[2].fidelity, 1.0);
  EXPECT_EQ(curve[2].standard_error, 0.1);
  EXPECT_TRUE(learning_curve_of({}).empty());
}

}  // namespace
}  // namespace steptune::bayes
