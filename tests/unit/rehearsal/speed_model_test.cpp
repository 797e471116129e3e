// SPDX-License-Identifier: Apache-2.0
#include "tuner/rehearsal/speed_model.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "tuner/rehearsal/projection.hpp"

namespace steptune {
namespace {

StudySpec rented_study(int trials = 6) {
  Json document = Json::parse(R"({
    "name": "rented", "command": ["train", "--batch-size", "{batch_size}"],
    "parameters": {"batch_size": {"type": "int", "low": 16, "high": 512, "scale": "log2"}},
    "baseline": {"batch_size": 64},
    "planned_run": {"samples": 1e8, "batch_size": "batch_size"},
    "objectives": ["cost"],
    "search": {"searcher": "random", "scheduler": "none", "seed": 1},
    "measure": {"confirm_pairs": 1},
    "runner": {
      "type": "sagemaker", "region": "us-east-1",
      "role": "arn:aws:iam::123456789012:role/training",
      "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1",
      "channels": {"train": "s3://bucket/train/"}, "output": "s3://bucket/out",
      "instance_type": "ml.m5.xlarge"
    }
  })");
  document["budget"]["trials"] = trials;
  auto study = study_from_json(document, "/nowhere/study.json", {{"cpus", 4.0}, {"gpus", 0.0}});
  EXPECT_TRUE(study) << study.error().text();
  return *std::move(study);
}

Configuration batch_of(std::int64_t size) {
  Configuration configuration;
  configuration.set("batch_size", size);
  return configuration;
}

TrialRecord measured_at(std::int64_t batch, double seconds_per_sample, double startup_s) {
  TrialRecord trial;
  trial.configuration = batch_of(batch);
  trial.measurement.emplace();
  trial.measurement->status = MeasurementStatus::steady;
  trial.measurement->seconds_per_sample = seconds_per_sample;
  trial.measurement->startup_s = startup_s;
  return trial;
}

TEST(SpeedModel, AStepTakesATenthOfASecondByDefault) {
  const StudySpec study = rented_study();
  const SpeedModel speed = constant_speed(study);
  for (const std::int64_t batch : {16, 64, 512}) {
    EXPECT_DOUBLE_EQ(speed(batch_of(batch)).seconds_per_sample * static_cast<double>(batch), 0.1);
    EXPECT_GT(speed(batch_of(batch)).startup_s, 0.0);
  }
}

TEST(SpeedModel, ARecordGivesTheLastMeasurementOrTheMean) {
  const auto speed = recorded_speed(
      {measured_at(16, 0.4, 10.0), measured_at(32, 0.2, 20.0), measured_at(32, 0.3, 30.0)});
  ASSERT_TRUE(speed);
  EXPECT_EQ((*speed)(batch_of(32)).seconds_per_sample, 0.3);
  EXPECT_EQ((*speed)(batch_of(32)).startup_s, 30.0);
  EXPECT_NEAR((*speed)(batch_of(64)).seconds_per_sample, 0.3, 1e-12);
  EXPECT_NEAR((*speed)(batch_of(64)).startup_s, 20.0, 1e-12);
  EXPECT_FALSE(recorded_speed({}));
}

TEST(SpeedModel, NonNumbersAreNoMeasurements) {
  constexpr double k_infinite = std::numeric_limits<double>::infinity();
  const auto speed = recorded_speed({measured_at(16, k_infinite, 1.0), measured_at(32, 0.2, 2.0)});
  ASSERT_TRUE(speed);
  EXPECT_EQ((*speed)(batch_of(16)).seconds_per_sample, 0.2);
}

TEST(SpeedModel, AnExpressionUsesParametersAndFacts) {
  const StudySpec study = rented_study();
  const auto speed = expressed_speed(study, "batch_size > 100 ? 0.5 : 1 / cpus");
  ASSERT_TRUE(speed) << speed.error().text();
  EXPECT_EQ((*speed)(batch_of(512)).seconds_per_sample, 0.5);
  EXPECT_EQ((*speed)(batch_of(16)).seconds_per_sample, 0.25);
  const auto unknown = expressed_speed(study, "1 / wrokers");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("wrokers"), std::string::npos);
}

TEST(SpeedModel, AnExpressionIsPositiveForEveryConfiguration) {
  const StudySpec study = rented_study();
  for (const char* expression : {"0.1 / (batch_size - 64)", "0.1 - 0.001 * batch_size"}) {
    const auto speed = expressed_speed(study, expression);
    ASSERT_FALSE(speed) << expression;
    EXPECT_NE(speed.error().text().find("must be positive"), std::string::npos);
  }
}

TEST(ProjectedTuning, MoreTrialsTakeLongerAndCostMore) {
  ProjectionOptions options;
  options.seconds_per_sample = "0.001 + 0.1 / batch_size";
  options.repeats = 1;
  const auto few = project_tuning(rented_study(2), options);
  const auto many = project_tuning(rented_study(5), options);
  ASSERT_TRUE(few && many);
  EXPECT_GT(many->duration_s.mean, few->duration_s.mean);
  EXPECT_GT(many->usd->mean, few->usd->mean);
  EXPECT_EQ(few->duration_s.low, few->duration_s.high) << "one rehearsal has no range";
  const std::string text = projection_text(rented_study(2), *few);
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_NE(text.find('$'), std::string::npos) << text;
}

TEST(ProjectedTuning, AnExpressionThatDoesNotCompileIsRefused) {
  ProjectionOptions options;
  options.seconds_per_sample = "0.1 +";
  EXPECT_FALSE(project_tuning(rented_study(), options));
}

}  // namespace
}  // namespace steptune
