// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/going_on.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/extrapolation.hpp"

namespace steptune::bayes {
namespace {

TEST(ImprovementRate, IsTheExpectedImprovementPerPriceWhereNothingCanBeStopped) {
  const Normal full{1.2, 0.25};
  const Stage whole[] = {{2.0, 0.0}};
  EXPECT_NEAR(log_improvement_rate(full, 1.0, whole),
              log_expected_improvement(full, 1.0) - std::log(2.0), 1e-12);
}

TEST(ImprovementRate, GrowsWithTheChanceToStopEarly) {
  const Normal full{1.5, 0.25};
  const Stage blind[] = {{0.5, 0.2499}, {0.5, 0.0}};
  const Stage telling[] = {{0.5, 0.02}, {0.5, 0.0}};
  const double never = log_expected_improvement(full, 1.0);
  EXPECT_NEAR(log_improvement_rate(full, 1.0, blind), never, 0.05);
  EXPECT_GT(log_improvement_rate(full, 1.0, telling), never + 0.2);
}

TEST(ImprovementRate, OfAStoppableTrialIsThatOfTheBestRuleBySimulation) {
  // Two stages: the first tells nearly all, so that the best rule goes on if it ends below 1 and
  // then pays the second half of the price.
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
  EXPECT_NEAR(std::exp(log_improvement_rate(full, 1.0, stages)), best, 0.06 * best);
}

TEST(ImprovementRate, StaysFiniteWhereNothingIsToBeHopedFor) {
  const Stage stages[] = {{0.1, 1e-4}, {0.9, 0.0}};
  const double hopeless = log_improvement_rate({50.0, 1e-3}, 1.0, stages);
  EXPECT_TRUE(std::isfinite(hopeless));
  EXPECT_LT(hopeless, log_improvement_rate({1.1, 1e-3}, 1.0, stages));
}

TEST(Extrapolation, LearnsHowValuesGoOn) {
  Extrapolation extrapolation;
  const auto value = [](double end, double fidelity) { return end - 0.4 * std::log(fidelity); };
  EXPECT_FALSE(extrapolation.ready());
  for (const double end : {1.0, 1.4, 2.0, 2.3, 2.7}) {
    for (const double fidelity : {0.0625, 0.125, 0.25, 0.5}) {
      extrapolation.add({fidelity, value(end, fidelity), 0.0},
                        {2.0 * fidelity, value(end, 2.0 * fidelity), 0.0});
    }
  }
  ASSERT_TRUE(extrapolation.ready());
  extrapolation.fit();
  const auto early = extrapolation.full({0.0625, value(1.7, 0.0625), 0.0});
  const auto late = extrapolation.full({0.5, value(1.7, 0.5), 0.0});
  EXPECT_NEAR(early.mean, 1.7, 0.1);
  EXPECT_NEAR(late.mean, 1.7, 0.03);
  EXPECT_LT(late.own_variance, early.own_variance);
}

TEST(Extrapolation, OfFlatCoursesIsTheValueItself) {
  Extrapolation extrapolation;
  Rng rng(2, "test/flat", 0);
  for (int trial = 0; trial < 12; ++trial) {
    const double speed = 1.0 + 0.1 * trial;
    const double early = speed + 0.02 * rng.normal();
    const double later = 0.5 * early + 0.5 * (speed + 0.02 * rng.normal());
    extrapolation.add({0.25, early, 4e-4}, {0.5, later, 2e-4});
  }
  extrapolation.fit();
  const auto full = extrapolation.full({0.25, 1.5, 4e-4});
  EXPECT_NEAR(full.mean, 1.5, 0.04);
  EXPECT_LT(std::sqrt(full.own_variance), 0.2);
}

}  // namespace
}  // namespace steptune::bayes
