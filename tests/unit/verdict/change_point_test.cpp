// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangePoint, AtFirstEachVersionIsEquallyLikely) {
  const ChangePoint change(4);
  EXPECT_THAT(change.probabilities(), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_FALSE(change.found(0.95));
  EXPECT_THAT(change.next(3), ElementsAre(0, 1, 2));
  EXPECT_FALSE(change.slowdown_from(0));
}

TEST(ChangePoint, PreciseMeasurementsFindTheVersion) {
  ChangePoint change(8);
  change.observe(7, 0.05, 0.005);
  change.observe(3, 0.001, 0.005);
  EXPECT_THAT(change.remaining(0.95), ElementsAre(4, 5, 6, 7));
  change.observe(5, 0.051, 0.005);
  change.observe(4, 0.0, 0.005);
  EXPECT_EQ(change.found(0.95), 5U);
  EXPECT_NEAR(*change.slowdown_from(5), 0.0505, 1e-9);
}

TEST(ChangePoint, TheErrorOfAStageFollowsFromItsInterval) {
  SpeedUp speed_up;
  speed_up.ratio = 0.9;
  speed_up.low = 0.9 / std::exp(0.0392);
  speed_up.high = 0.9 * std::exp(0.0392);
  const auto alone = slowdown_in_stage(speed_up, 1);
  ASSERT_TRUE(alone);
  EXPECT_NEAR(alone->slowdown, -std::log(0.9), 1e-9);
  EXPECT_NEAR(alone->error, 0.02, 1e-9);
  EXPECT_NEAR(slowdown_in_stage(speed_up, 7)->error, 0.0392 / 2.69, 1e-9);
  EXPECT_FALSE(slowdown_in_stage(SpeedUp(), 1));
}

TEST(ChangePoint, MeasurementsOfAVersionAreAveragedByTheirPrecision) {
  ChangePoint change(2);
  EXPECT_FALSE(change.measured(1));
  change.observe(1, 0.04, 0.01);
  change.observe(1, 0.08, 0.02);
  const auto measured = change.measured(1);
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->slowdown, 0.048, 1e-9);
  EXPECT_NEAR(measured->error, 0.01 / std::sqrt(1.25), 1e-9);
}

TEST(ChangePoint, AVersionThatCannotRunIsNotMeasured) {
  ChangePoint change(3);
  change.observe(2, 0.1, 0.01);
  change.observe(0, 0.0, 0.01);
  EXPECT_THAT(change.next(1), ElementsAre(1));
  change.skip(1);
  change.skip(2);
  change.skip(0);
  EXPECT_THAT(change.next(1), IsEmpty());
  EXPECT_THAT(change.remaining(0.95), ElementsAre(1, 2));
}

TEST(ChangePoint, ASkippedVersionCannotBeDistinguishedFromTheNext) {
  ChangePoint change(4);
  EXPECT_TRUE(change.can_narrow(0.95));
  change.observe(3, 0.1, 0.01);
  change.observe(0, 0.0, 0.01);
  change.observe(2, 0.1, 0.01);
  EXPECT_TRUE(change.can_narrow(0.95));
  change.skip(1);
  EXPECT_THAT(change.remaining(0.95), ElementsAre(1, 2));
  EXPECT_FALSE(change.can_narrow(0.95));
}

TEST(ChangePoint, AVersionIsMeasuredBesideItsPredecessor) {
  ChangePoint change(64);
  change.observe(63, 0.05, 0.01);
  change.observe(40, 0.05, 0.01);
  change.observe(30, 0.0, 0.01);
  for (const std::size_t version : change.next(6)) {
    EXPECT_GE(version, 30U);
    EXPECT_LE(version, 40U);
  }
}

}  // namespace
}  // namespace steptune
