// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/training_job_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;

TEST(TrainingJobForm, HyperparametersAreTextsAndArgumentsAreTyped) {
  LongRun run;
  run.argv = {"python3", "t.py"};
  run.configuration.set("batch_size", std::int64_t{64});
  run.configuration.set("rate", 0.001);
  run.configuration.set("compile", true);
  Json members = must(TrainingJobForm().write(run));
  EXPECT_EQ(
      members["CreateTrainingJob"],
      (Json{{"HyperParameters", {{"batch_size", "64"}, {"compile", "true"}, {"rate", "0.001"}}}}));
  EXPECT_EQ(members["Estimator"],
            (Json{{"hyperparameters", {{"batch_size", 64}, {"compile", true}, {"rate", 0.001}}}}));
  run.resources = {"ml.g5.xlarge", 2, {}};
  run.environment["A"] = "b";
  members = must(TrainingJobForm().write(run));
  EXPECT_EQ(members["CreateTrainingJob"]["ResourceConfig"],
            (Json{{"InstanceType", "ml.g5.xlarge"}, {"InstanceCount", 2}}));
  EXPECT_EQ(members["CreateTrainingJob"]["AlgorithmSpecification"]["ContainerEntrypoint"],
            Json::array({"python3"}));
  EXPECT_EQ(members["CreateTrainingJob"]["AlgorithmSpecification"]["ContainerArguments"],
            Json::array({"t.py"}));
  EXPECT_EQ(members["Estimator"]["instance_type"], "ml.g5.xlarge");
  EXPECT_EQ(members["Estimator"]["environment"]["A"], "b");
  run.environment["A"] = std::string(513, 'x');
  EXPECT_THAT(TrainingJobForm().write(run).error().text(), HasSubstr("512"));
}

TEST(TrainingJobForm, TheCommandFitsIntoAContainersArguments) {
  LongRun run;
  run.argv = {"python3", "t.py", std::string(257, 'x')};
  EXPECT_TRUE(TrainingJobForm().write(run)) << "without machines, the request has no command";
  run.resources = {"ml.g5.xlarge", 1, {}};
  EXPECT_THAT(TrainingJobForm().write(run).error().text(),
              HasSubstr("ContainerArguments/1: 257 characters long; the limit is 256"));
  run.argv.back().pop_back();
  must(TrainingJobForm().write(run));
  run.argv.resize(101, "-v");
  must(TrainingJobForm().write(run));
  run.argv.emplace_back("-v");
  EXPECT_THAT(TrainingJobForm().write(run).error().text(),
              HasSubstr("ContainerArguments: 101 entries; the limit is 100"));
}

}  // namespace
}  // namespace steptune
