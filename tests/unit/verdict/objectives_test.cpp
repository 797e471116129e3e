// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/objectives.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

TEST(Objectives, TimeIsThePlannedRunsIncludingItsStart) {
  const auto values = objective_values(time_study(), steady(0.5, 0.0196, 7.0), 3.6);
  ASSERT_TRUE(values);
  EXPECT_DOUBLE_EQ(values->at(0).value, 507.0);
  EXPECT_NEAR(values->at(0).error, 10.0, 1e-3);
}

TEST(Objectives, WithoutAPlannedRunTheTimeIsThatOfAMillionSamples) {
  StudySpec study = time_study();
  study.planned_run.samples.reset();
  const auto values = objective_values(study, steady(0.5, 0.0, 7.0), 3.6);
  ASSERT_TRUE(values);
  EXPECT_DOUBLE_EQ(values->at(0).value, 500'000.0);
}

TEST(Objectives, CostIsTheTimeAtThePriceOfAllInstances) {
  Json document = time_study().document;
  document["objectives"] = {"cost", "time"};
  document["runner"]["instances"] = 2;
  const StudySpec study = study_from_json(document, "/studies/study.json", {}).value();
  EXPECT_DOUBLE_EQ(usd_per_hour(study, study.baseline), 7.2);
  const auto values =
      objective_values(study, steady(0.5, 0.0, 7.0), usd_per_hour(study, study.baseline));
  ASSERT_TRUE(values);
  EXPECT_DOUBLE_EQ(values->at(0).value, 507.0 * 0.001 * 2.0);
  EXPECT_DOUBLE_EQ(values->at(1).value, 507.0);
}

TEST(Objectives, AnUnsteadyTrialIsNotRanked) {
  for (const auto status : {MeasurementStatus::no_reports, MeasurementStatus::warming_up,
                            MeasurementStatus::not_steady}) {
    Measurement measurement = steady(0.5);
    measurement.status = status;
    const auto values = objective_values(time_study(), measurement, 3.6);
    ASSERT_FALSE(values);
    EXPECT_FALSE(values.error().empty());
  }
  EXPECT_FALSE(objective_values(time_study(), steady(0.0), 3.6));
  EXPECT_FALSE(
      objective_values(time_study(), steady(std::numeric_limits<double>::infinity()), 3.6));
}

TEST(Objectives, AReportedMetricNeedsNoSteadyState) {
  StudySpec study = time_study();
  study.objectives = {{"accuracy", Direction::maximize}};
  Measurement measurement;
  const auto missing = objective_values(study, measurement, 3.6);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error(), HasSubstr("accuracy"));
  measurement.metrics["accuracy"] = 0.75;
  const auto values = objective_values(study, measurement, 3.6);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->at(0).value, 0.75);
  measurement.not_finite = {"accuracy"};
  EXPECT_FALSE(objective_values(study, measurement, 3.6)) << "its last value was NaN";
}

TEST(Objectives, CostsHaveTheErrorOfTheirTimes) {
  Json document = time_study().document;
  document["objectives"] = {"time", "cost"};
  const StudySpec study = study_from_json(document, "/studies/study.json", {}).value();
  const auto values = objective_values(study, steady(0.5, 0.0196), 3.6);
  ASSERT_TRUE(values);
  EXPECT_NEAR(values->at(0).error, 10.0, 0.01);
  EXPECT_NEAR(values->at(1).error, 0.01, 1e-5);
}

TEST(Objectives, AnUnknownIntervalGivesNoError) {
  const auto values =
      objective_values(time_study(), steady(0.5, std::numeric_limits<double>::infinity()), 3.6);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->at(0).error, 0.0);
}

TEST(Objectives, SayWhyThereIsNoTime) {
  Measurement measurement = steady(0.5);
  measurement.window_steps = 12.0;
  const auto why = [&](MeasurementStatus status) {
    measurement.status = status;
    return objective_values(time_study(), measurement, 3.6).error();
  };
  EXPECT_EQ(why(MeasurementStatus::no_reports),
            "its output has no progress reports with steps or samples");
  measurement.metrics["epoch"] = 3.0;
  EXPECT_THAT(why(MeasurementStatus::no_reports),
              HasSubstr(R"(count each as a sample, with "unit": "epochs", "reports": {"metrics")"));
  measurement.total_samples = 3.0;
  EXPECT_EQ(why(MeasurementStatus::no_reports), "too few progress reports to compute a speed from");
  EXPECT_EQ(why(MeasurementStatus::warming_up),
            "no steady state yet after 12 measured steps: more steps are needed");
  EXPECT_EQ(why(MeasurementStatus::not_steady),
            "no steady state: the speed still drifted after 12 measured steps");
  measurement.seconds_per_sample = -1.0;
  EXPECT_EQ(why(MeasurementStatus::steady), "the measured speed is not a positive number");
}

TEST(Objectives, AMetricBesideATimeHasNoError) {
  StudySpec study = time_study();
  study.objectives.push_back({"loss", Direction::minimize});
  EXPECT_FALSE(all_timed(study));
  Measurement measurement = steady(0.5, 0.0196);
  measurement.metrics["loss"] = 2.0;
  const auto values = objective_values(study, measurement, 3.6);
  ASSERT_TRUE(values);
  ASSERT_EQ(values->size(), 2U);
  EXPECT_EQ(values->at(1).error, 0.0);
  measurement.metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(objective_values(study, measurement, 3.6).error(),
            "the metric \"loss\" was not found in its output");
  EXPECT_DOUBLE_EQ(to_minimized({"loss", Direction::minimize}, 2.0), 2.0);
  EXPECT_DOUBLE_EQ(to_minimized({"accuracy", Direction::maximize}, 2.0), -2.0);
}

}  // namespace
}  // namespace steptune
