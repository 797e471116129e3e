// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/lbfgs.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptune::bayes {
namespace {

double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  const double a = 1.0 - x[0];
  const double b = x[1] - x[0] * x[0];
  gradient[0] = -2.0 * a - 400.0 * x[0] * b;
  gradient[1] = 200.0 * b;
  return a * a + 100.0 * b * b;
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  LbfgsOptions options;
  options.max_evaluations = 200;
  options.gradient_tolerance = 1e-6;
  options.value_tolerance = 0.0;
  const std::vector<double> start{-1.2, 1.0};
  const LbfgsResult result = minimise_lbfgs(rosenbrock, start, options);
  EXPECT_NEAR(result.x[0], 1.0, 1e-5);
  EXPECT_NEAR(result.x[1], 1.0, 1e-5);
  EXPECT_LE(result.evaluations, 200);
}

TEST(Lbfgs, KeepsToItsBudgetAndNeverGetsWorse) {
  const std::vector<double> start{-1.2, 1.0};
  std::vector<double> gradient(2);
  const double at_start = rosenbrock(start, gradient);
  double previous = at_start;
  for (int budget = 1; budget < 40; ++budget) {
    LbfgsOptions options;
    options.max_evaluations = budget;
    const LbfgsResult result = minimise_lbfgs(rosenbrock, start, options);
    EXPECT_LE(result.evaluations, budget);
    EXPECT_LE(result.value, previous);
    previous = result.value;
  }
  EXPECT_LT(previous, 1e-2 * at_start);
}

TEST(Lbfgs, ReturnsTheStartIfNothingIsDefined) {
  const auto nowhere = [](std::span<const double>, std::span<double> gradient) {
    gradient[0] = 0.0;
    return std::numeric_limits<double>::infinity();
  };
  EXPECT_EQ(minimise_lbfgs(nowhere, std::vector<double>{0.25}, {}).x, std::vector<double>{0.25});
}

TEST(Lbfgs, BacksOffFromABoundary) {
  const auto logarithm = [](std::span<const double> x, std::span<double> gradient) {
    if (x[0] <= 0.0) return std::numeric_limits<double>::infinity();
    gradient[0] = 1.0 - 1e-3 / x[0];
    return x[0] - 1e-3 * std::log(x[0]);
  };
  LbfgsOptions options;
  options.max_evaluations = 100;
  options.gradient_tolerance = 1e-6;
  options.value_tolerance = 0.0;
  EXPECT_NEAR(minimise_lbfgs(logarithm, std::vector<double>{3.0}, options).x[0], 1e-3, 1e-6);
}

}  // namespace
}  // namespace steptune::bayes
