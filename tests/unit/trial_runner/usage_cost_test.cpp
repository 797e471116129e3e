// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/usage_cost.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(UsageCost, IsPriceTimesHours) {
  EXPECT_DOUBLE_EQ(usage_usd(4.848, 1800.0), 2.424);
  EXPECT_DOUBLE_EQ(usage_usd(3.6, 1.0), 0.001);
  EXPECT_EQ(usage_usd(0.0, 1800.0), 0.0);
  EXPECT_EQ(usage_usd(1.212, 0.0), 0.0);
}

}  // namespace
}  // namespace steptune
