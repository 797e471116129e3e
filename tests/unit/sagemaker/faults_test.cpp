// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Faults of a simulated account. A job spends 3 s on its data, 30 s on its image and 10 s on the
/// upload (`StageTimes`); its program runs for 60 s.
class Misfortunes : public AccountTest {
 protected:
  static Json spot(int max_wait_s) {
    return {{"EnableManagedSpotTraining", true},
            {"ResourceConfig", resources(0)},
            {"StoppingCondition",
             {{"MaxRuntimeInSeconds", 300}, {"MaxWaitTimeInSeconds", max_wait_s}}}};
  }
};

TEST_F(Misfortunes, NoCapacityFailsAfterALongStartUnbilled) {
  options.faults = {{.kind = FaultKind::capacity, .job = "full", .after_s = 1800.0}};
  create("full");
  pass(1900.0);
  EXPECT_EQ(describe("full")["SecondaryStatus"], "Starting");
  pass(100.0);
  const Json job = describe("full");
  EXPECT_EQ(job["TrainingJobStatus"], "Failed");
  EXPECT_THAT(job["FailureReason"].get<std::string>(), StartsWith("CapacityError: "));
  EXPECT_FALSE(job.contains("BillableTimeInSeconds"));
  EXPECT_EQ(job["WarmPoolStatus"]["Status"], "Terminated");
}

TEST_F(Misfortunes, AnInternalErrorEndsThePool) {
  options.faults = {{.kind = FaultKind::internal, .after_s = 20.0}};
  create("sick");
  pass(300.0);
  const Json job = describe("sick");
  EXPECT_THAT(job["FailureReason"].get<std::string>(), StartsWith("InternalServerError: "));
  EXPECT_EQ(job["WarmPoolStatus"]["Status"], "Terminated");
  EXPECT_DOUBLE_EQ(account().audit().job("sick")->billed_s, 3 + 30 + 20);
}

TEST_F(Misfortunes, AnInterruptedSpotJobPaysForBothAttempts) {
  options.faults = {{.kind = FaultKind::spot_interruption, .after_s = 25.0}};
  create("spot", spot(3600));
  pass(1000.0);
  const AccountAudit audit = account().audit();
  const JobAudit& job = *audit.job("spot");
  EXPECT_EQ(job.status, "Completed");
  EXPECT_THAT(stages(job),
              ElementsAre("Starting", "Downloading", "Training", "Interrupted", "Starting",
                          "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_DOUBLE_EQ(job.billed_s, (3 + 30 + 25) + (3 + 30 + 60 + 10));
  const Json described = describe("spot");
  EXPECT_EQ(described["BillableTimeInSeconds"], 161);
  EXPECT_EQ(described["TrainingTimeInSeconds"], 161 + 150)
      << "the wait counts as training time but is not billed";
}

TEST_F(Misfortunes, ASpotJobThatHasWaitedItsLongestTimeIsStopped) {
  options.faults = {{.kind = FaultKind::spot_interruption, .after_s = 25.0}};
  create("spot", spot(300));
  pass(1000.0);
  const Json job = describe("spot");
  EXPECT_EQ(job["TrainingJobStatus"], "Stopped");
  EXPECT_EQ(job["SecondaryStatus"], "MaxWaitTimeExceeded");
}

TEST_F(Misfortunes, SpotIsBilledAtAShareOfItsTime) {
  options.spot_billed_share = 0.4;
  create("spot", spot(3600));
  pass(1000.0);
  EXPECT_DOUBLE_EQ(account().audit().job("spot")->billed_s, 0.4 * 103.0);
}

TEST_F(Misfortunes, APoolCanBeStolen) {
  options.faults = {{.kind = FaultKind::steal_pool}};
  create("job");
  pass(300.0);
  EXPECT_EQ(describe("job")["WarmPoolStatus"]["ReusedByJob"], "a-strangers-job");
  create("next");
  EXPECT_FALSE(account().audit().job("next")->warm);
}

TEST_F(Misfortunes, ARetryFindsTheJobOfALostResponse) {
  options.faults = {{.kind = FaultKind::drop_response, .operation = "CreateTrainingJob", .nth = 1}};
  const auto created = call("CreateTrainingJob", request("job"));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, "ResourceInUse");
  EXPECT_EQ(created.error().attempts, 2);
  EXPECT_EQ(describe("job")["TrainingJobStatus"], "InProgress");
}

TEST_F(Misfortunes, ARequestThatDidNotArriveIsSentAgain) {
  options.faults = {{.kind = FaultKind::no_connection, .operation = "CreateTrainingJob"}};
  create("job");
  EXPECT_EQ(account().audit().requests, 2);
}

TEST_F(Misfortunes, TheClientSurvivesTemporaryErrors) {
  options.faults = {
      {.kind = FaultKind::throttle, .operation = "DescribeTrainingJob", .nth = 1, .times = 3},
      {.kind = FaultKind::internal_error, .operation = "DescribeTrainingJob", .nth = 4},
      {.kind = FaultKind::truncate, .operation = "DescribeTrainingJob", .nth = 5},
      {.kind = FaultKind::expired_credentials, .operation = "DescribeTrainingJob", .nth = 6}};
  create("job");
  EXPECT_EQ(describe("job")["TrainingJobName"], "job");
  EXPECT_EQ(refreshes, 1);
  EXPECT_EQ(account().audit().requests, 1 + 7);
}

TEST_F(Misfortunes, FaultsByChanceFollowTheSeed) {
  const auto faults_of = [](std::uint64_t seed) {
    FaultScript script({{.kind = FaultKind::throttle, .probability = 0.3}}, seed);
    std::vector<bool> hit;
    for (int i = 0; i < 200; ++i)
      hit.push_back(script.for_request("ListTrainingJobs", "{}").has_value());
    return hit;
  };
  EXPECT_EQ(faults_of(1), faults_of(1));
  EXPECT_NE(faults_of(1), faults_of(2));
  const auto hit = faults_of(1);
  EXPECT_NEAR(static_cast<double>(std::count(hit.begin(), hit.end(), true)), 60.0, 20.0);
}

}  // namespace
}  // namespace steptune::simulated
