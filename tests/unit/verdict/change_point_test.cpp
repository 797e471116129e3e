// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/change_point.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ChangePoint, AtFirstEachVersionIsEquallyLikely) {
  const ChangePoint change(4);
  EXPECT_THAT(change.probabilities(), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_FALSE(change.found(0.95));
  EXPECT_THAT(change.next(3), ElementsAre(0, 1, 2));
  EXPECT_FALSE(change.slowdown_from(0));
}

TEST(ChangePoint, PreciseMeasurementsFindTheVersion) {
  ChangePoint change(8);
  change.observe({{7, 0.05, 0.005}});
  change.observe({{3, 0.001, 0.005}});
  EXPECT_THAT(change.remaining(0.95), ElementsAre(4, 5, 6, 7));
  change.observe({{5, 0.051, 0.005}});
  change.observe({{4, 0.0, 0.005}});
  EXPECT_EQ(change.found(0.95), 5U);
  EXPECT_NEAR(*change.slowdown_from(5), 0.0505, 1e-9);
  EXPECT_THAT(change.next(6), Contains(5U));
  EXPECT_THAT(change.next(6), Contains(4U)) << "a version is measured beside its predecessor";
}

TEST(ChangePoint, TheSlowdownOfAStageHasItsStandardError) {
  SpeedUp speed_up;
  EXPECT_FALSE(slowdown_in_stage(speed_up));
  speed_up.ratio = 0.9;
  speed_up.standard_error = 0.02;
  ASSERT_TRUE(slowdown_in_stage(speed_up));
  EXPECT_NEAR(slowdown_in_stage(speed_up)->value, -std::log(0.9), 1e-9);
  EXPECT_EQ(slowdown_in_stage(speed_up)->error, 0.02);
  speed_up.standard_error = k_infinity;
  EXPECT_FALSE(slowdown_in_stage(speed_up));
}

/// All slowdowns look larger by 0.05, because the good version was lucky. The step remains.
TEST(ChangePoint, TheLuckOfTheGoodVersionDoesNotHideTheStep) {
  ChangePoint change(6);
  change.observe({{0, 0.05, 0.02},
                  {1, 0.05, 0.02},
                  {2, 0.05, 0.02},
                  {3, 0.12, 0.02},
                  {4, 0.12, 0.02},
                  {5, 0.12, 0.02}});
  EXPECT_THAT(change.remaining(0.9), ElementsAre(3));
  // Measured apart, versions have no common error, so 0.05 may be a slowdown.
  ChangePoint apart(6);
  for (std::size_t version = 0; version < 6; ++version)
    apart.observe({{version, version < 3 ? 0.05 : 0.12, 0.02}});
  EXPECT_THAT(apart.remaining(0.9), Not(ElementsAre(3)));
}

TEST(ChangePoint, MeasurementsOfAVersionAreAveragedByTheirPrecision) {
  ChangePoint change(2);
  EXPECT_FALSE(change.measured(1));
  change.observe({{1, 0.04, 0.01}});
  change.observe({{1, 0.08, 0.02}});
  const auto measured = change.measured(1);
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->value, 0.048, 1e-9);
  EXPECT_NEAR(measured->error, 0.01 / std::sqrt(1.25), 1e-9);
}

TEST(ChangePoint, AVersionThatCannotRunIsNotMeasured) {
  ChangePoint change(3);
  change.observe({{2, 0.1, 0.01}});
  change.observe({{0, 0.0, 0.01}});
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
  change.observe({{3, 0.1, 0.01}});
  change.observe({{0, 0.0, 0.01}});
  change.observe({{2, 0.1, 0.01}});
  EXPECT_TRUE(change.can_narrow(0.95));
  change.skip(1);
  EXPECT_THAT(change.remaining(0.95), ElementsAre(1, 2));
  EXPECT_FALSE(change.can_narrow(0.95));
}

TEST(ChangePoint, StagesShareTheTimeAndLeaveNoRestThatIsTooShort) {
  constexpr double k_whole_s = 1800.0;
  const ChangePoint change(64);
  EXPECT_DOUBLE_EQ(change.stage_s(0.95, k_whole_s, k_whole_s), 600.0)
      << "two stages narrow 64 versions to 8 and to 1, and a third one confirms";
  EXPECT_DOUBLE_EQ(change.stage_s(0.95, 800.0, k_whole_s), 300.0)
      << "a third of 800 s is less than the least stage, a sixth of the whole";
  EXPECT_DOUBLE_EQ(change.stage_s(0.95, 599.0, k_whole_s), 599.0)
      << "after 300 s, less than 300 s would be left for another stage";
}

TEST(ChangePoint, VersionsThatAreKnownAreNotMeasuredAgain) {
  ChangePoint change(64);
  change.observe({{63, 0.05, 0.01}});
  change.observe({{40, 0.05, 0.01}});
  change.observe({{30, 0.0, 0.01}});
  const std::vector<std::size_t> versions = change.next(6);
  EXPECT_FALSE(versions.empty());
  for (const std::size_t version : versions) {
    EXPECT_GE(version, 30U);
    EXPECT_LE(version, 40U);
  }
}

}  // namespace
}  // namespace steptune
