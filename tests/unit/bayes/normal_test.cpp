// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/normal.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptune::bayes {
namespace {

TEST(Normal, LogImprovementAgreesWithItsDefinition) {
  for (const double z : {-3.0, -1.0, -0.5, 0.0, 1.0, 8.0}) {
    EXPECT_NEAR(log_improvement(z), std::log(normal_density(z) + z * normal_cdf(z)), 1e-12) << z;
  }
}

TEST(Normal, LogImprovementIncreasesFarIntoTheTail) {
  double previous = -std::numeric_limits<double>::infinity();
  for (double z = -60.0; z < 5.0; z += 0.01) {
    const double value = log_improvement(z);
    ASSERT_TRUE(std::isfinite(value)) << z;
    ASSERT_GT(value, previous) << z;
    // Its slope, cdf / improvement, is below |z| + 2.
    if (z > -59.5) {
      ASSERT_LT(value - previous, 0.01 * (std::abs(z) + 2.0)) << z;
    }
    previous = value;
  }
  EXPECT_TRUE(std::isfinite(log_improvement(-1e150)));
  // By the series of Mills' ratio, log h(z) = log density(z) - 2 log |z| + log(1 - 3/z^2 + ...).
  EXPECT_NEAR(log_improvement(-1000.0), -500000.0 - 0.9189385332 - 2.0 * std::log(1000.0), 1e-5);
}

TEST(Normal, LogCdfIsContinuousWhereItsSeriesBegins) {
  EXPECT_NEAR(log_normal_cdf(-25.0 - 1e-9), log_normal_cdf(-25.0 + 1e-9), 1e-6);
  EXPECT_NEAR(log_normal_cdf(0.0), std::log(0.5), 1e-15);
  EXPECT_TRUE(std::isfinite(log_normal_cdf(-1e100)));
}

TEST(Normal, SumsAndDifferencesOfLogarithms) {
  EXPECT_NEAR(log_sum(std::log(3.0), std::log(4.0)), std::log(7.0), 1e-14);
  EXPECT_NEAR(log_difference(std::log(7.0), std::log(4.0)), std::log(3.0), 1e-14);
  EXPECT_EQ(log_difference(1.0, 1.0), -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(log_sum(-1e4, -1e4), -1e4 + std::log(2.0), 1e-9);
}

}  // namespace
}  // namespace steptune::bayes
