// SPDX-License-Identifier: Apache-2.0
#include "common/median.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(MedianOfValues, IsTheMiddleOneOrTheGreaterOfTheMiddleTwo) {
  EXPECT_FALSE(median({}));
  EXPECT_EQ(median({7.0}), 7.0);
  EXPECT_EQ(median({9.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({4.0, 1.0}), 4.0);
  EXPECT_EQ(median({9.0, 1.0, 3.0, 2.0, 8.0, 0.0}), 3.0);
}

}  // namespace
}  // namespace steptune
