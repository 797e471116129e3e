// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/progress_bound.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(ProgressBound, WithoutAnIntervalWhatTheHalvesDifferByIsTheLeast) {
  ProgressBound progress(std::nullopt);
  double now_s = 0.0;
  for (int step = 1; step <= 500; ++step) {
    Report report;
    report.step = step;
    report.received_s = now_s += step <= 250 ? 0.3 : 0.1;
    progress.add(report);
  }
  EXPECT_NEAR(progress.difference_of_halves(), 0.2, 0.02);

  Measurement measurement;
  measurement.status = MeasurementStatus::not_steady;
  measurement.seconds_per_sample = 0.2;
  measurement.half_width_s = std::numeric_limits<double>::infinity();
  const Measurement unknown = unsteady_at_limit(measurement, progress, now_s);
  EXPECT_NEAR(unknown.half_width_s, 0.2, 0.02);
  EXPECT_EQ(unknown.status, MeasurementStatus::not_steady);

  // The steps' own interval knows it, and a tenth is the least.
  measurement.half_width_s = 0.01;
  EXPECT_NEAR(unsteady_at_limit(measurement, progress, now_s).half_width_s, 0.02, 0.002);
}

TEST(ProgressBound, OfTwoReportsThereAreNoHalves) {
  ProgressBound progress(std::nullopt);
  for (int step = 1; step <= 2; ++step) {
    Report report;
    report.step = step;
    report.received_s = step;
    progress.add(report);
  }
  EXPECT_EQ(progress.difference_of_halves(), 0.0);
}

}  // namespace
}  // namespace steptune
