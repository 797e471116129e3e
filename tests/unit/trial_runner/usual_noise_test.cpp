// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/usual_noise.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/interval.hpp"

namespace steptune {
namespace {

/// Returns a trial of `steps` steps of 0.1 s, one sample each, whose mean is known to a hundredth.
Measurement measured(double steps) {
  Measurement measurement;
  measurement.status = MeasurementStatus::steady;
  measurement.seconds_per_sample = measurement.step_seconds_per_sample = 0.1;
  measurement.half_width_s = measurement.step_half_width_s = 0.0024;
  measurement.step_standard_error_s = 0.001;
  measurement.window_s = 0.1 * steps;
  measurement.window_steps = measurement.window_samples = steps;
  return measurement;
}

double variance_s(const Measurement& measurement) {
  UsualNoise usual;
  usual.add(measurement);
  return usual.variance_s();
}

TEST(UsualNoise, IsTheVarianceOfAMeanOverASecond) {
  EXPECT_EQ(UsualNoise().variance_s(), 0.0) << "nothing was measured";
  EXPECT_DOUBLE_EQ(variance_s(measured(30.0)), 1e-4 * 3.0);
  Measurement widened = measured(30.0);
  widened.step_half_width_s = 1.0;
  EXPECT_DOUBLE_EQ(variance_s(widened), 1e-4 * 3.0) << "widening of an interval is no noise";
}

TEST(UsualNoise, LongerTrialsCountMore) {
  UsualNoise usual;
  usual.add(measured(30.0));
  usual.add(measured(970.0));
  EXPECT_DOUBLE_EQ(usual.variance_s(), 1e-4 * (0.5 * 3.0 + 0.97 * 97.0) / 1.47);
}

TEST(UsualNoise, NeedsSteadyTrialsWithAnError) {
  Measurement unsteady = measured(30.0);
  unsteady.status = MeasurementStatus::not_steady;
  EXPECT_EQ(variance_s(unsteady), 0.0);
  Measurement compared = measured(30.0);
  compared.step_standard_error_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(variance_s(compared), 0.0);
  EXPECT_EQ(variance_s(Measurement()), 0.0);
}

/// Returns a trial with five stalls of 0.2 s, which scatter by 0.1 s, every `spacing_samples`.
Measurement stalled(double spacing_samples) {
  Measurement measurement = measured(100.0);
  PhaseEstimate stall;
  stall.count = 5.0;
  stall.seconds = 0.2;
  stall.seconds_error = 0.1 / std::sqrt(5.0);
  stall.spacing_samples = spacing_samples;
  measurement.phases[std::string(k_stall_phase)] = stall;
  return measurement;
}

TEST(UsualNoise, IncludesStallsThatComeOftenEnoughForAnyTrial) {
  const double of_steps_s = variance_s(measured(100.0));
  EXPECT_NEAR(variance_s(stalled(20.0)) - of_steps_s, (0.01 + 0.04) / 2.0, 1e-12)
      << "at random: as many scatter by the root of their number";
  EXPECT_DOUBLE_EQ(variance_s(stalled(100.0)), of_steps_s) << "a short trial has no such stall";
  EXPECT_DOUBLE_EQ(variance_s(stalled(0.0)), of_steps_s) << "of a history that somebody edited";
  Measurement periodic = stalled(20.0);
  periodic.phases.begin()->second.period_samples = 20.0;
  periodic.phases.begin()->second.period_error = 0.0;
  EXPECT_NEAR(variance_s(periodic) - of_steps_s, 0.01 / 2.0, 1e-12) << "their number is known";
}

TEST(WithUsualNoise, ShortTrialsGetHalfAndLongOnesAlmostNone) {
  const double usual_variance_s = 0.12;  // 20 % over 3 s
  const double of_short = with_usual_noise(0.001, 0.1, 3.0, 30, usual_variance_s);
  EXPECT_NEAR(of_short, k_z_95 * 0.02 * std::sqrt(0.5), 1e-4);
  const double of_long = with_usual_noise(0.001, 0.1, 300.0, 3000, usual_variance_s);
  EXPECT_NEAR(of_long, 0.001, 1e-4);
  EXPECT_GT(of_long, 0.001);
}

TEST(WithUsualNoise, NoIntervalBecomesNarrower) {
  EXPECT_EQ(with_usual_noise(0.05, 0.1, 3.0, 30, 0.12), 0.05);
  EXPECT_EQ(with_usual_noise(0.001, 0.1, 3.0, 30, 0.0), 0.001);
  EXPECT_TRUE(
      std::isinf(with_usual_noise(std::numeric_limits<double>::infinity(), 0.1, 3.0, 5, 0.12)));
}

}  // namespace
}  // namespace steptune
