// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/bill.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(Bill, IsPriceTimesInstancesTimesHours) {
  EXPECT_DOUBLE_EQ(cost_usd({1.212, 4.0}, 1800.0), 2.424);
  EXPECT_EQ(cost_usd({}, 1800.0), 0.0);
}

TEST(Bill, CountsBilledSecondsAndNotTheDuration) {
  Outcome outcome;
  outcome.duration_s = 100.0;
  outcome.billed_s = 36.0;
  EXPECT_DOUBLE_EQ(bill_usd({10.0, 1.0}, outcome), 0.1);
}

}  // namespace
}  // namespace steptune
