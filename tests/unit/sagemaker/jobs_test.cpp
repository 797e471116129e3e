// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class Jobs : public AccountTest {};

TEST_F(Jobs, AJobIsBilledFromDownloadToUpload) {
  create("job");
  const Json starting = describe("job");
  EXPECT_EQ(starting["TrainingJobStatus"], "InProgress");
  EXPECT_EQ(starting["SecondaryStatus"], "Starting");
  for (const char* absent : {"TrainingStartTime", "BillableTimeInSeconds", "TrainingEndTime",
                             "FailureReason", "ModelArtifacts"}) {
    EXPECT_FALSE(starting.contains(absent)) << absent;
  }
  pass(1000.0);
  const Json job = describe("job");
  EXPECT_EQ(job["TrainingJobStatus"], "Completed");
  // Seconds of the data download, the image download, the program and the upload (StageTimes).
  EXPECT_EQ(job["BillableTimeInSeconds"], 3 + 30 + 60 + 10);
  EXPECT_EQ(job["ModelArtifacts"]["S3ModelArtifacts"], "s3://data/out/job/output/model.tar.gz");
  EXPECT_NEAR(job["TrainingStartTime"].get<double>() - job["CreationTime"].get<double>(), 150.0,
              1e-3);
  const AccountAudit audit = account().audit();
  EXPECT_THAT(stages(*audit.job("job")),
              ElementsAre("Starting", "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_DOUBLE_EQ(audit.job("job")->billed_s, 103.0);
}

TEST_F(Jobs, FileModeDownloadsLongerThanFastFile) {
  create("job",
         {{"AlgorithmSpecification", {{"TrainingImage", "image"}, {"TrainingInputMode", "File"}}}});
  pass(1000.0);
  EXPECT_DOUBLE_EQ(stage_s(*account().audit().job("job"), "Downloading"), 40.0);
}

TEST_F(Jobs, AStoppedJobEndsWithItsProgram) {
  program.ends_after_s.reset();
  program.stop_s = 7.0;
  create("job");
  pass(600.0);
  ASSERT_TRUE(call("StopTrainingJob", {{"TrainingJobName", "job"}}));
  EXPECT_EQ(describe("job")["TrainingJobStatus"], "Stopping");
  pass(100.0);
  const Json job = describe("job");
  EXPECT_EQ(job["TrainingJobStatus"], "Stopped");
  EXPECT_EQ(job["SecondaryStatus"], "Stopped");
  EXPECT_EQ(job["WarmPoolStatus"]["Status"], "Available");
  EXPECT_DOUBLE_EQ(stage_s(*account().audit().job("job"), "Stopping"), 7.0);
  const auto again = call("StopTrainingJob", {{"TrainingJobName", "job"}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message,
            "The request was rejected because the training job is in status Stopped.");
}

TEST_F(Jobs, AnUnresponsiveProgramIsKilledAfterTheGracePeriod) {
  program.ends_after_s.reset();
  program.stop_s = 1e9;
  create("job");
  pass(600.0);
  ASSERT_TRUE(call("StopTrainingJob", {{"TrainingJobName", "job"}}));
  pass(1000.0);
  EXPECT_DOUBLE_EQ(stage_s(*account().audit().job("job"), "Stopping"), 120.0);
}

TEST_F(Jobs, AJobStoppedBeforeItHasMachinesIsNotBilled) {
  create("job");
  pass(10.0);
  ASSERT_TRUE(call("StopTrainingJob", {{"TrainingJobName", "job"}}));
  const Json job = describe("job");
  EXPECT_EQ(job["TrainingJobStatus"], "Stopped");
  EXPECT_FALSE(job.contains("BillableTimeInSeconds"));
  EXPECT_EQ(job["WarmPoolStatus"]["Status"], "Terminated");
}

TEST_F(Jobs, TheTimeLimitStopsAJobThatDidNotFail) {
  program.ends_after_s.reset();
  create("job", {{"StoppingCondition", {{"MaxRuntimeInSeconds", 300}}}});
  pass(5000.0);
  const Json job = describe("job");
  EXPECT_EQ(job["TrainingJobStatus"], "Stopped");
  EXPECT_EQ(job["SecondaryStatus"], "MaxRuntimeExceeded");
  EXPECT_FALSE(job.contains("FailureReason"));
  // As above, but the program runs for 300 s and takes 0.5 s to stop.
  EXPECT_DOUBLE_EQ(account().audit().job("job")->billed_s, 3 + 30 + 300 + 0.5 + 10);
}

TEST_F(Jobs, FailuresHaveTheServicesWords) {
  program.exit_code = 3;
  program.failure = "no such file";
  create("broken");
  pass(1000.0);
  EXPECT_EQ(describe("broken")["FailureReason"], "AlgorithmError: no such file, exit code: 3");
  EXPECT_EQ(describe("broken")["WarmPoolStatus"]["Status"], "Terminated")
      << "the warm pool was kept for 600 s";
  EXPECT_DOUBLE_EQ(account().audit().pool_of("broken")->retained_s, 600.0);
  program.exit_code = 137;
  create("greedy");
  pass(1000.0);
  EXPECT_THAT(describe("greedy")["FailureReason"].get<std::string>(),
              HasSubstr("ClientError: Please use an instance type with more memory"));
}

TEST_F(Jobs, MissingJobsAndTakenNamesAreRefused) {
  const auto missing = call("DescribeTrainingJob", {{"TrainingJobName", "none"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "ValidationException");
  EXPECT_EQ(missing.error().message, "Requested resource not found.");
  create("job");
  const auto again = call("CreateTrainingJob", request("job"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "ResourceInUse");
  EXPECT_THAT(again.error().message,
              HasSubstr("(arn:aws:sagemaker:us-east-1:123456789012:training-job/job)"));
}

TEST_F(Jobs, InvalidRequestsAreRefused) {
  const auto refusal = [this](const Json& changes) {
    const auto refused = call("CreateTrainingJob", request("job", changes));
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "ValidationException");
    return refused.error().message;
  };
  EXPECT_THAT(refusal({{"TrainingJobName", "under_score"}}), HasSubstr("/TrainingJobName"));
  EXPECT_THAT(
      refusal({{"StoppingCondition", {{"MaxRuntimeInSeconds", 1}, {"MaxWaitTimeInSeconds", 2}}}}),
      HasSubstr("only supported when EnableManagedSpotTraining"));
  EXPECT_THAT(refusal({{"EnableManagedSpotTraining", true}}), HasSubstr("warm pools"));
  EXPECT_THAT(refusal({{"ResourceConfig", {{"VolumeSizeInGB", 10}}}}), HasSubstr("InstanceType"));
  Json missing = request("job");
  missing.erase("RoleArn");
  EXPECT_THAT(call("CreateTrainingJob", missing).error().message, HasSubstr("/RoleArn"));
}

TEST_F(Jobs, TheTrainingQuotaIsAnErrorAtOnce) {
  options.training_quota = {{"ml.m5.large", 1}};
  create("one");
  const auto two = call("CreateTrainingJob", request("two"));
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, "ResourceLimitExceeded");
  EXPECT_THAT(two.error().message,
              HasSubstr("'ml.m5.large for training job usage' is 1 Instances, with current "
                        "utilization of 1 Instances and a request delta of 1 Instances"));
}

TEST_F(Jobs, FiltersByStatusApplyAfterThePageIsCut) {
  for (const char* name : {"b", "a", "c"})
    create(name, {{"ResourceConfig", resources(0)}});
  const auto page =
      call("ListTrainingJobs", {{"WarmPoolStatusEquals", "Available"}, {"MaxResults", 2}});
  ASSERT_TRUE(page);
  EXPECT_TRUE((*page)["TrainingJobSummaries"].empty());
  ASSERT_TRUE(page->contains("NextToken"));
  const auto last =
      call("ListTrainingJobs", {{"MaxResults", 2}, {"NextToken", (*page)["NextToken"]}});
  ASSERT_TRUE(last);
  ASSERT_EQ((*last)["TrainingJobSummaries"].size(), 1U);
  EXPECT_EQ((*last)["TrainingJobSummaries"][0]["TrainingJobName"], "c");
  EXPECT_FALSE(last->contains("NextToken"));
}

TEST_F(Jobs, EqualScriptsGiveEqualAccounts) {
  options.stages.jitter = 0.2;
  VirtualClock other_clock(clock_.wall_time_s());
  SimulatedAccount other(
      other_clock, [this](const Json&) { return program; }, options);
  aws::HttpRequest post;
  post.headers = {{"X-Amz-Target", "SageMaker.CreateTrainingJob"}};
  post.body = request("job").dump();
  ASSERT_TRUE(account().send(post, {}));
  ASSERT_TRUE(other.send(post, {}));
  EXPECT_TRUE(account().advance_until_quiet(1e5));
  EXPECT_TRUE(other.advance_until_quiet(1e5));
  EXPECT_EQ(clock_.now_s(), other_clock.now_s());
  const double starting_s = stage_s(*account().audit().job("job"), "Starting");
  EXPECT_NE(starting_s, 150.0);
  EXPECT_EQ(stage_s(*other.audit().job("job"), "Starting"), starting_s);
}

}  // namespace
}  // namespace steptune::simulated
