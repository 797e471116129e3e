// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/progress_bound.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(ProgressBound, UsesTheDifferenceOfHalvesWithoutAnInterval) {
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

  // The interval of the steps is known, so it counts. A tenth of the estimate is the minimum.
  measurement.half_width_s = 0.01;
  EXPECT_NEAR(unsteady_at_limit(measurement, progress, now_s).half_width_s, 0.02, 0.002);
}

TEST(ProgressBound, TwoReportsHaveNoHalves) {
  ProgressBound progress(std::nullopt);
  for (int step = 1; step <= 2; ++step) {
    Report report;
    report.step = step;
    report.received_s = step;
    progress.add(report);
  }
  EXPECT_EQ(progress.difference_of_halves(), 0.0);
}

Report at(double now_s, double step) {
  Report report;
  report.step = step;
  report.received_s = now_s;
  return report;
}

TEST(ProgressBound, AllowsOneMoreReportSinceTheFirst) {
  ProgressBound progress(8.0);
  EXPECT_FALSE(progress.least_seconds_per_sample(100.0)) << "nothing was reported";
  EXPECT_FALSE(progress.seconds_per_sample());
  progress.add(at(10.0, 5));
  EXPECT_FALSE(progress.least_seconds_per_sample(10.0));
  EXPECT_FALSE(progress.seconds_per_sample()) << "of one report";
  EXPECT_DOUBLE_EQ(progress.least_seconds_per_sample(14.0).value(), 4.0 / 40.0)
      << "the next one is due after five steps";
  progress.add(at(20.0, 10));
  EXPECT_DOUBLE_EQ(progress.seconds_per_sample().value(), 10.0 / 40.0);
  EXPECT_DOUBLE_EQ(progress.least_seconds_per_sample(20.0).value(), 10.0 / 80.0);
}

TEST(ProgressBound, AResumedProgramCountsItsOwnSteps) {
  ProgressBound fresh(std::nullopt);
  ProgressBound resumed(std::nullopt);
  for (int i = 1; i <= 5; ++i) {
    fresh.add(at(2.0 * i, i));
    resumed.add(at(2.0 * i, 100'000 + i));
  }
  EXPECT_DOUBLE_EQ(resumed.least_seconds_per_sample(10.0).value(),
                   fresh.least_seconds_per_sample(10.0).value());
  Measurement measurement;
  measurement.status = MeasurementStatus::warming_up;
  const Measurement ended = unsteady_at_limit(measurement, resumed, 10.0);
  EXPECT_DOUBLE_EQ(ended.seconds_per_sample, 2.0);
  EXPECT_NEAR(ended.half_width_s, 2.0 - 8.0 / 5.0, 1e-9);
}

TEST(ProgressBound, CountsOnlyReportsOfFurtherProgress) {
  ProgressBound progress(std::nullopt);
  progress.add(at(1.0, 1));
  progress.add(at(2.0, 2));
  const auto known = progress.seconds_per_sample();
  const auto least = progress.least_seconds_per_sample(9.0);
  Report silent;
  silent.received_s = 3.0;
  progress.add(silent);
  progress.add(at(4.0, 2));
  progress.add(at(5.0, 1));
  progress.add(at(6.0, std::numeric_limits<double>::quiet_NaN()));
  progress.add(at(7.0, std::numeric_limits<double>::infinity()));
  EXPECT_DOUBLE_EQ(known.value(), 1.0);
  EXPECT_EQ(progress.seconds_per_sample(), known);
  EXPECT_DOUBLE_EQ(least.value(), 4.0);
  EXPECT_EQ(progress.least_seconds_per_sample(9.0), least);
}

TEST(ProgressBound, ARestartedCountIsBoundedFromItsRestart) {
  ProgressBound progress(std::nullopt);
  for (int step = 1; step <= 1000; ++step)
    progress.add(at(0.01 * step, step));
  for (int step = 1; step <= 100; ++step)
    progress.add(at(10.0 + 0.1 * step, step));
  EXPECT_NEAR(progress.seconds_per_sample().value(), 0.1, 1e-9);
}

TEST(ProgressBound, ReportedSamplesPrecedeSteps) {
  ProgressBound progress(8.0);
  for (int i = 1; i <= 3; ++i) {
    Report report = at(i, i);
    report.samples = 100.0 * i;
    progress.add(report);
  }
  EXPECT_DOUBLE_EQ(progress.seconds_per_sample().value(), 0.01);
}

TEST(ProgressBound, StepsAreIgnoredOnceSamplesAreReported) {
  ProgressBound progress(std::nullopt);
  for (int step = 1; step <= 100; ++step) {
    Report report = at(0.1 * step, step);
    if (step % 10 == 0) report.samples = 32.0 * step;
    EXPECT_FALSE(progress.add(report)) << "no restart at step " << step;
  }
  EXPECT_NEAR(progress.seconds_per_sample().value(), 0.1 / 32.0, 1e-9);
}

Report phase_at(double now_s, std::optional<double> seconds) {
  Report report;
  report.received_s = now_s;
  report.phase = PhaseReport{"evaluation", seconds};
  return report;
}

TEST(ProgressBound, AnEvaluationAfterTheFirstStepIsNoStep) {
  ProgressBound progress(std::nullopt);
  progress.add(at(1.0, 1));
  progress.add(phase_at(1.01, std::nullopt));
  EXPECT_TRUE(progress.has_begun());
  EXPECT_FALSE(progress.least_seconds_per_sample(70.0));
  Measurement measurement;
  EXPECT_TRUE(std::isnan(unsteady_at_limit(measurement, progress, 70.0).seconds_per_sample));
  EXPECT_FALSE(why_slow(measurement, progress, 70.0));
  progress.add(phase_at(71.0, 70.0));
  EXPECT_DOUBLE_EQ(progress.least_seconds_per_sample(73.0).value(), 2.0);
  progress.add(at(72.0, 2));
  const Measurement ended = unsteady_at_limit(measurement, progress, 72.0);
  EXPECT_GE(ended.seconds_per_sample, 1.0);
  EXPECT_LE(ended.seconds_per_sample - ended.half_width_s, 1.0) << "the time that the step took";
}

TEST(ProgressBound, APhaseUnderWayLastsUntilTheNextCount) {
  ProgressBound progress(std::nullopt);
  for (int i = 1; i <= 5; ++i)
    progress.add(at(i, i));
  const auto before = progress.least_seconds_per_sample(5.0);
  progress.add(phase_at(5.0, std::nullopt));
  EXPECT_EQ(progress.least_seconds_per_sample(50.0), before);
  progress.add(at(61.0, 6));
  EXPECT_DOUBLE_EQ(progress.least_seconds_per_sample(61.0).value(), 10.0);
  EXPECT_DOUBLE_EQ(progress.phase_seconds_per_sample(), 56.0 / 5.0);
  progress.add(phase_at(63.0, 57.0));
  EXPECT_DOUBLE_EQ(progress.phase_seconds_per_sample(), 57.0 / 5.0) << "by its own end";
}

TEST(UnsteadyAtLimit, KeepsSteadyAndUnknownMeasurements) {
  ProgressBound progress(std::nullopt);
  Measurement measurement;
  measurement.status = MeasurementStatus::warming_up;
  measurement.seconds_per_sample = 3.0;
  EXPECT_EQ(unsteady_at_limit(measurement, progress, 10.0).seconds_per_sample, 3.0);
  progress.add(at(1.0, 1));
  progress.add(at(2.0, 2));
  measurement.status = MeasurementStatus::steady;
  measurement.half_width_s = 0.25;
  EXPECT_EQ(unsteady_at_limit(measurement, progress, 10.0).half_width_s, 0.25);
}

TEST(UnsteadyAtLimit, OneReportGivesABoundOnly) {
  ProgressBound progress(std::nullopt);
  progress.add(at(1.0, 1));
  Measurement measurement;
  measurement.status = MeasurementStatus::no_reports;
  measurement.step_seconds_per_sample = 1.0;
  measurement.slowest_seconds_per_sample = 1.0;
  const Measurement ended = unsteady_at_limit(measurement, progress, 5.0);
  EXPECT_DOUBLE_EQ(ended.seconds_per_sample, 4.0);
  EXPECT_DOUBLE_EQ(ended.half_width_s, 2.0);
  EXPECT_DOUBLE_EQ(ended.slowest_seconds_per_sample, 6.0);
  EXPECT_TRUE(std::isnan(ended.step_seconds_per_sample));
}

TEST(UnsteadyAtLimit, ReachesTheMeanOfAllReports) {
  ProgressBound progress(std::nullopt);
  for (int i = 1; i <= 101; ++i)
    progress.add(at(i, i));
  Measurement measurement;
  measurement.status = MeasurementStatus::not_steady;
  measurement.half_width_s = 0.01;
  measurement.seconds_per_sample = 0.4;
  EXPECT_DOUBLE_EQ(unsteady_at_limit(measurement, progress, 101.0).half_width_s, 0.6);
  measurement.seconds_per_sample = 1.6;
  EXPECT_NEAR(unsteady_at_limit(measurement, progress, 101.0).half_width_s, 0.6, 0.02);
  measurement.seconds_per_sample = 1.0;
  EXPECT_DOUBLE_EQ(unsteady_at_limit(measurement, progress, 101.0).half_width_s, 0.1)
      << "a tenth is the least";
  measurement.slowest_seconds_per_sample = 7.0;
  EXPECT_DOUBLE_EQ(unsteady_at_limit(measurement, progress, 101.0).slowest_seconds_per_sample, 7.0);
}

TEST(AsIfSteady, ATrialWithAFiniteIntervalCountsAsSteady) {
  Measurement measurement;
  measurement.status = MeasurementStatus::not_steady;
  measurement.seconds_per_sample = 1.0;
  measurement.half_width_s = 0.5;
  EXPECT_EQ(marked_steady(measurement).status, MeasurementStatus::steady);
  measurement.half_width_s = std::numeric_limits<double>::infinity();
  EXPECT_EQ(marked_steady(measurement).status, MeasurementStatus::not_steady);
  measurement.half_width_s = 0.5;
  measurement.seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(marked_steady(measurement).status, MeasurementStatus::not_steady);
}

TEST(WhySlow, ConcernsTrialsWithTooFewReports) {
  ProgressBound progress(std::nullopt);
  Measurement measurement;
  measurement.status = MeasurementStatus::warming_up;
  measurement.total_samples = 3;
  EXPECT_FALSE(why_slow(measurement, progress, 10.0)) << "it reported nothing";
  for (int i = 1; i <= 3; ++i)
    progress.add(at(2.0 * i, i));
  EXPECT_EQ(why_slow(measurement, progress, 6.0),
            "at least 1.33 s per sample (3 samples in all): too few reports to measure "
            "the speed within \"max_trial\"");
  measurement.status = MeasurementStatus::no_reports;
  EXPECT_TRUE(why_slow(measurement, progress, 6.0));
  for (const auto status : {MeasurementStatus::not_steady, MeasurementStatus::steady}) {
    measurement.status = status;
    EXPECT_FALSE(why_slow(measurement, progress, 6.0));
  }
}

}  // namespace
}  // namespace steptune
