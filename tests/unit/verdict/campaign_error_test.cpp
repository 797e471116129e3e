// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/campaign_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "common/interval.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {
namespace {

/// Returns the sum of the errors of `tests` tests. Each test whose number is a multiple of `every`
/// keeps its edit; 0: none.
double spent(std::size_t tests, std::size_t every) {
  std::vector<bool> kept;
  double sum = 0.0;
  for (std::size_t i = 1; i <= tests; ++i) {
    sum += campaign_error(kept);
    kept.push_back(every > 0 && i % every == 0);
  }
  return sum;
}

TEST(CampaignError, TheFirstTestsHaveTheseErrors) {
  EXPECT_NEAR(campaign_error({}), 0.025 * (1.0 - 1.0 / std::sqrt(2.0)), 1e-15);
  EXPECT_NEAR(campaign_error({false}), 0.025 * (1.0 / std::sqrt(2.0) - 1.0 / std::sqrt(3.0)),
              1e-15);
  // The second half of the error, which the kept edit earned two tests ago, adds to the first half.
  EXPECT_NEAR(campaign_error({false, true, false}),
              0.025 * (1.0 / std::sqrt(4.0) - 1.0 / std::sqrt(5.0) + 1.0 / std::sqrt(2.0) -
                       1.0 / std::sqrt(3.0)),
              1e-15);
}

TEST(CampaignError, WithoutAKeptEditHalfOfTheErrorIsNeverExceeded) {
  double last = 1.0;
  std::vector<bool> kept;
  double sum = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const double error = campaign_error(kept);
    EXPECT_LT(error, last);
    EXPECT_GT(error, 0.0);
    last = error;
    sum += error;
    kept.push_back(false);
  }
  EXPECT_LE(sum, 0.5 * k_error_95);
  EXPECT_GT(sum, 0.48 * k_error_95);
}

TEST(CampaignError, AKeptEditEarnsErrorForLaterTests) {
  const std::vector<bool> none(20, false);
  std::vector<bool> one = none;
  one.back() = true;
  EXPECT_GT(campaign_error(one), 5.0 * campaign_error(none));
  std::vector<bool> two = none;
  two.front() = two.back() = true;
  EXPECT_GT(campaign_error(two), 1.9 * campaign_error(one));
}

/// The sum of all errors estimates the number of wrongly kept edits. It is at most 5 % of the kept
/// edits, which proves that their rate is controlled (theorem 2 of the paper).
TEST(CampaignError, AllErrorsTogetherAreAShareOfTheKeptEdits) {
  for (const std::size_t every : {1U, 2U, 3U, 7U, 10U, 50U}) {
    for (const std::size_t tests : {1U, 10U, 100U, 500U}) {
      const auto kept = static_cast<double>(std::max<std::size_t>(1, tests / every));
      EXPECT_LE(spent(tests, every), k_error_95 * kept) << every << " " << tests;
    }
  }
}

TEST(CampaignError, AKeptEditsIntervalExcludesOne) {
  EXPECT_DOUBLE_EQ(campaign_error(std::vector<bool>(200, true)), k_one_sided_error);
}

}  // namespace
}  // namespace steptune
