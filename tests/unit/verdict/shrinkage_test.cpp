// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/shrinkage.hpp"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(Shrunk, ValuesThatDifferByTheirErrorsAloneAreTheirMean) {
  EXPECT_THAT(shrunk({{9.0, 2.0}, {10.0, 2.0}, {11.0, 2.0}}), Each(DoubleNear(10.0, 1e-12)));
}

TEST(Shrunk, ValuesThatDifferByMoreKeepTheShareThatErrorsDoNotExplain) {
  // Variance by moments: (8 - 1) / (2 - 1) = 7 of 8, so that 7/8 of each difference is kept.
  EXPECT_THAT(shrunk({{8.0, 1.0}, {12.0, 1.0}}),
              ElementsAre(DoubleNear(10.0 - 2.0 * 7.0 / 8.0, 1e-12),
                          DoubleNear(10.0 + 2.0 * 7.0 / 8.0, 1e-12)));
}

TEST(Shrunk, AnUnknownErrorKeepsNothing) {
  const auto values =
      shrunk({{8.0, 0.1}, {12.0, 0.1}, {100.0, std::numeric_limits<double>::infinity()}});
  EXPECT_NEAR(values[2], 10.0, 1e-9);
}

TEST(Shrunk, ExactValuesAndASingleValueStayUnchanged) {
  EXPECT_THAT(shrunk({{8.0, 0.0}, {12.0, 1.0}}), ElementsAre(8.0, 12.0));
  EXPECT_THAT(shrunk({{8.0, 1.0}}), ElementsAre(8.0));
  EXPECT_TRUE(shrunk({}).empty());
}

TEST(Shrunk, TheBestOfManyLosesItsLuck) {
  double raw = 0.0;
  double expected = 0.0;
  constexpr int k_studies = 200;
  for (std::uint64_t seed = 0; seed < k_studies; ++seed) {
    Rng rng(7, "luck", seed);
    std::vector<MeasuredValue> measured;
    for (int i = 0; i < 20; ++i)
      measured.push_back({100.0 + 10.0 * rng.normal(), 10.0});
    const auto values = shrunk(measured);
    const auto best = std::ranges::min_element(measured, {}, &MeasuredValue::value);
    raw += best->value / k_studies;
    expected += values[static_cast<std::size_t>(best - measured.begin())] / k_studies;
  }
  EXPECT_LT(raw, 83.0);
  EXPECT_NEAR(expected, 100.0, 5.0);
}

}  // namespace
}  // namespace steptune
