// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/expected_improvement.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

TEST(Acquisition, ExpectedImprovementAgreesWithSampling) {
  Rng rng(3, "improvement");
  const Normal prediction{0.3, 0.49};
  double sum = 0.0;
  constexpr int k_draws = 200'000;
  for (int i = 0; i < k_draws; ++i)
    sum += std::max(0.0, -0.2 - (0.3 + 0.7 * rng.normal()));
  EXPECT_NEAR(std::exp(log_expected_improvement(prediction, -0.2)), sum / k_draws, 2e-3);
}

TEST(Acquisition, FrontKeepsUndominatedPoints) {
  const std::vector<Pair> front =
      pareto_front({{3, 1}, {1, 3}, {2, 2}, {2, 3}, {2, 2}, {4, 4}, {1, 5}});
  EXPECT_EQ(front, (std::vector<Pair>{{1, 3}, {2, 2}, {3, 1}}));
  EXPECT_DOUBLE_EQ(dominated_area(front, {4, 4}), 6.0);
}

TEST(Acquisition, HypervolumeImprovementAgreesWithSampling) {
  const std::vector<Pair> front{{1, 3}, {2, 2}, {3, 1}};
  const Pair reference{4, 4};
  const HypervolumeImprovement improvement(front, reference);
  const double before = dominated_area(front, reference);
  Rng rng(5, "hypervolume");
  for (const auto& [first, second] : {std::pair<Normal, Normal>{{2.0, 1.0}, {1.5, 0.25}},
                                      std::pair<Normal, Normal>{{0.5, 0.3}, {3.5, 2.0}},
                                      std::pair<Normal, Normal>{{3.5, 0.1}, {3.0, 0.1}}}) {
    double sum = 0.0;
    constexpr int k_draws = 100'000;
    for (int i = 0; i < k_draws; ++i) {
      auto with = front;
      with.push_back({first.mean + std::sqrt(first.variance) * rng.normal(),
                      second.mean + std::sqrt(second.variance) * rng.normal()});
      sum += dominated_area(pareto_front(with), reference) - before;
    }
    const double expected = sum / k_draws;
    EXPECT_NEAR(std::exp(improvement.log_expected(first, second)), expected,
                0.02 * expected + 1e-4);
  }
}

TEST(Acquisition, HypervolumeImprovementStaysFiniteFarFromTheFront) {
  const HypervolumeImprovement improvement({{1, 3}, {1.0000001, 2.9999}, {3, 1}}, {4, 4});
  const double far = improvement.log_expected({1e4, 1e-6}, {1e4, 1e-6});
  const double farther = improvement.log_expected({2e4, 1e-6}, {2e4, 1e-6});
  EXPECT_TRUE(std::isfinite(far));
  EXPECT_GT(far, farther);
}

TEST(Acquisition, WithoutAFrontThereIsStillAReference) {
  const Pair reference = reference_point({{2, 5}}, {{2, 5}, {4, 9}});
  EXPECT_GT(reference[0], 2.0);
  EXPECT_GT(reference[1], 5.0);
  EXPECT_TRUE(std::isfinite(HypervolumeImprovement({}, {1, 1}).log_expected({0, 1}, {0, 1})));
}

}  // namespace
}  // namespace steptune::bayes
