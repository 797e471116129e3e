// SPDX-License-Identifier: Apache-2.0
// Tests the measurement of trials that take turns with the trials that they are compared with.
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "trial_runner/measure/measurer.hpp"

namespace steptune {
namespace {

Measurement measure(bool in_turns, const std::function<double(int)>& step_s) {
  MeasureOptions options;
  options.samples_per_step = 1.0;
  options.in_turns = in_turns;
  Measurer measurer(options);
  double now_s = 0.0;
  for (int step = 1; step <= 200; ++step) {
    now_s += step_s(step);
    Report report;
    report.received_s = now_s;
    report.step = step;
    measurer.add(report);
  }
  return measurer.current();
}

/// A neighbour comes at the middle.
double with_neighbour(int step) {
  return (step <= 100 ? 0.1 : 0.2) + 0.001 * (step % 7);
}

TEST(MeasurerInTurns, ChangesOfLevelAreAveraged) {
  EXPECT_NEAR(measure(false, with_neighbour).seconds_per_sample, 0.203, 0.01);
  const Measurement in_turns = measure(true, with_neighbour);
  EXPECT_NEAR(in_turns.seconds_per_sample, 0.170, 0.005) << "50 fast steps and 100 slow ones";
  EXPECT_EQ(in_turns.status, MeasurementStatus::steady);
  EXPECT_TRUE(in_turns.level_changes.empty());
}

TEST(MeasurerInTurns, AShortWarmUpIsCutOff) {
  const auto slow_start = [](int step) { return (step <= 20 ? 1.0 : 0.1) + 0.001 * (step % 7); };
  EXPECT_NEAR(measure(true, slow_start).seconds_per_sample, 0.103, 0.005);
}

TEST(MeasurerInTurns, ARateThatDriftsIsSteady) {
  const auto slower = [](int step) { return 0.1 + 0.001 * step + 0.001 * (step % 7); };
  EXPECT_EQ(measure(true, slower).status, MeasurementStatus::steady);
}

}  // namespace
}  // namespace steptune
