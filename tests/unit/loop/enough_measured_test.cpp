// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/enough_measured.hpp"

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

TEST(EnoughMeasured, IsTightOnceItIsPreciseLongAndManyStepsEnough) {
  MeasureSpec wanted;
  wanted.target_half_width = 0.02;
  wanted.min_window_s = 5.0;
  wanted.min_window_steps = 20;
  Measurement measured = steady(0.1, 0.002);
  measured.window_s = 5.0;
  measured.window_steps = 20;
  EXPECT_TRUE(is_tight(measured, wanted));
  measured.half_width_s = 0.0021;
  EXPECT_FALSE(is_tight(measured, wanted));
  measured.half_width_s = 0.002;
  measured.window_s = 4.9;
  EXPECT_FALSE(is_tight(measured, wanted));
  measured.window_s = 5.0;
  measured.window_steps = 19;
  EXPECT_FALSE(is_tight(measured, wanted));
  measured.window_steps = 20;
  measured.may_have_just_changed = true;
  EXPECT_FALSE(is_tight(measured, wanted)) << "throttling may just have begun";
}

TEST(EnoughMeasured, ALongerWindowNeedsItsStepsOrItsSeconds) {
  TrialTargets targets{time_study().measure};
  targets.measure.min_window_steps = 20;
  targets.measure.min_window_s = 5.0;
  measure_longer(targets);
  Measurement measured = steady(0.1, 0.002);
  measured.window_steps = 139;
  measured.window_s = 49.0;
  EXPECT_FALSE(was_observed_for_long(measured, targets));
  measured.window_steps = 140;
  EXPECT_TRUE(was_observed_for_long(measured, targets)) << "seven least windows of steps";
  measured.window_steps = 20;
  measured.window_s = 50.0;
  EXPECT_TRUE(was_observed_for_long(measured, targets)) << "ten least windows of time";
}

}  // namespace
}  // namespace steptune
