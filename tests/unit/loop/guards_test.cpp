// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/guards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/loop/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Guard loss_after(double samples) {
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = samples;
  guard.max_ratio_to_baseline = 1.02;
  return guard;
}

Measurement reporting(double samples, double loss) {
  Measurement measurement;
  measurement.total_samples = samples;
  measurement.metrics["loss"] = loss;
  return measurement;
}

TrialRecord baseline_with(const std::string& metric, double value) {
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  baseline.measurement->metrics[metric] = value;
  return baseline;
}

TEST(Guards, AreJudgedAtTheirNumberOfSamplesHoweverFarATrialRuns) {
  const std::vector<Guard> guards{loss_after(1000)};
  GuardedValues values;
  capture_guarded(guards, reporting(990, 9.0), values);
  EXPECT_FALSE(all_captured(guards, values));
  capture_guarded(guards, reporting(1010, 3.0), values);
  EXPECT_TRUE(all_captured(guards, values));
  capture_guarded(guards, reporting(5000, 1.0), values);
  EXPECT_EQ(values.at("loss@1000"), 3.0);
}

TEST(Guards, WithoutANumberOfSamplesTheLastValueCountsAndOnlyAtTheEnd) {
  Guard guard = loss_after(0);
  guard.max_ratio_to_baseline.reset();
  guard.max = 2.0;
  GuardedValues values;
  capture_guarded({guard}, reporting(10, 9.0), values);
  EXPECT_FALSE(violated_guard({guard}, values, {}, nullptr, GuardMoment::running));
  EXPECT_TRUE(violated_guard({guard}, values, {}, nullptr, GuardMoment::ended));
  capture_guarded({guard}, reporting(500, 1.0), values);
  EXPECT_FALSE(violated_guard({guard}, values, {}, nullptr, GuardMoment::ended));
}

TEST(Guards, CompareWithTheBaselineAtTheSameNumberOfSamples) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord baseline = baseline_with("loss@1000", 2.0);
  const auto told = [&](double loss) {
    return violated_guard(guards, {{"loss@1000", loss}}, {}, &baseline, GuardMoment::running);
  };
  EXPECT_FALSE(told(2.04));
  ASSERT_TRUE(told(2.05));
  EXPECT_THAT(*told(2.05), HasSubstr("above 1.02 times the baseline's 2"));
}

TEST(Guards, WhatCannotBeKnownIsNoSuccess) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord baseline = baseline_with("loss@1000", 2.0);
  EXPECT_FALSE(violated_guard(guards, {}, {}, &baseline, GuardMoment::running));
  const auto told = violated_guard(guards, {}, {}, &baseline, GuardMoment::ended);
  ASSERT_TRUE(told);
  EXPECT_THAT(*told, HasSubstr("1000 samples"));
}

TEST(Guards, ALossThatIsNotFiniteViolatesThem) {
  const std::vector<Guard> guards{loss_after(1000)};
  Measurement measurement = reporting(2000, 1.0);
  measurement.not_finite = {"loss"};
  GuardedValues values;
  capture_guarded(guards, measurement, values);
  const auto told = violated_guard(guards, values, {}, nullptr, GuardMoment::running);
  ASSERT_TRUE(told);
  EXPECT_THAT(*told, HasSubstr("not a finite number"));
}

TEST(Guards, PeakMemoryIsGuardedAtTheEnd) {
  Guard guard;
  guard.metric = "peak_memory_bytes";
  guard.max = 1e9;
  EXPECT_TRUE(all_captured({guard}, {}));
  EXPECT_FALSE(violated_guard({guard}, {}, 0.9e9, nullptr, GuardMoment::ended));
  EXPECT_TRUE(violated_guard({guard}, {}, 1.1e9, nullptr, GuardMoment::ended));
}

TEST(Guards, LowerLimits) {
  Guard guard;
  guard.metric = "accuracy";
  guard.min_ratio_to_baseline = 0.9;
  const TrialRecord baseline = baseline_with("accuracy", 0.5);
  EXPECT_FALSE(violated_guard({guard}, {{"accuracy", 0.46}}, {}, &baseline, GuardMoment::ended));
  EXPECT_TRUE(violated_guard({guard}, {{"accuracy", 0.44}}, {}, &baseline, GuardMoment::ended));
}

TEST(Guards, ABaselineThatDidNotReportIsTold) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord silent = completed(1, 1.0);
  EXPECT_THAT(metrics_missing_in_baseline(guards, silent), ElementsAre("loss@1000"));
  EXPECT_FALSE(violated_guard(guards, {{"loss@1000", 99.0}}, {}, &silent, GuardMoment::ended));
}

}  // namespace
}  // namespace steptune
