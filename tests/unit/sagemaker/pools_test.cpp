// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"

namespace steptune::simulated {
namespace {

/// A cold job whose image is downloaded once takes 150 + 3 + 30 + 60 + 10 s.
constexpr double k_cold_job_s = 253.0;

class Pools : public AccountTest {
 protected:
  std::string pool_status(const std::string& job) {
    return describe(job)["WarmPoolStatus"]["Status"].get<std::string>();
  }
  void update(const std::string& job, int keep_alive_s) {
    const auto updated = call("UpdateTrainingJob",
                              {{"TrainingJobName", job},
                               {"ResourceConfig", {{"KeepAlivePeriodInSeconds", keep_alive_s}}}});
    ASSERT_TRUE(updated) << updated.error().to_error().text();
  }
};

TEST_F(Pools, TheNextJobReusesThePoolAndStartsWarm) {
  create("cold");
  EXPECT_EQ(pool_status("cold"), "InUse");
  pass(k_cold_job_s + 100.0);
  EXPECT_EQ(pool_status("cold"), "Available");
  create("warm");
  pass(300.0);
  const Json cold = describe("cold");
  EXPECT_EQ(cold["WarmPoolStatus"]["Status"], "Reused");
  EXPECT_EQ(cold["WarmPoolStatus"]["ReusedByJob"], "warm");
  const AccountAudit audit = account().audit();
  const JobAudit& warm = *audit.job("warm");
  EXPECT_TRUE(warm.warm);
  EXPECT_DOUBLE_EQ(stage_s(warm, "Starting"), 20.0);
  EXPECT_DOUBLE_EQ(stage_s(warm, "Training"), 60.0) << "the image is there";
  EXPECT_NEAR(audit.pool_of("cold")->retained_s,
              warm.created_s - audit.job("cold")->transitions.back().start_s - 2.0, 1e-9);
}

TEST_F(Pools, APoolIsInUseUntilItIsReady) {
  create("job");
  account().advance_to(account().audit().job("job")->created_s + k_cold_job_s + 0.5);
  const Json job = describe("job");
  EXPECT_EQ(job["TrainingJobStatus"], "Completed");
  EXPECT_EQ(job["WarmPoolStatus"]["Status"], "InUse");
  max_attempts = 1;
  create("early");
  EXPECT_FALSE(account().audit().job("early")->warm) << "launched before the pool was available";
}

TEST_F(Pools, AnotherVolumeSizeOrRoleIsAnotherPool) {
  create("first");
  pass(k_cold_job_s + 10.0);
  create("volume", {{"ResourceConfig", resources(600, 11)}});
  create("role", {{"RoleArn", "arn:aws:iam::123456789012:role/other"}});
  create("same", {{"HyperParameters", {{"batch_size", "64"}}},
                  {"StoppingCondition", {{"MaxRuntimeInSeconds", 60}}}});
  const AccountAudit audit = account().audit();
  EXPECT_FALSE(audit.job("volume")->warm);
  EXPECT_FALSE(audit.job("role")->warm);
  EXPECT_TRUE(audit.job("same")->warm);
}

TEST_F(Pools, KeepAliveWithoutQuotaIsAcceptedAndDoesNothing) {
  options.warm_pool_quota.clear();
  create("job");
  pass(k_cold_job_s + 10.0);
  const Json status = describe("job")["WarmPoolStatus"];
  EXPECT_EQ(status, Json({{"Status", "Terminated"}, {"ResourceRetainedBillableTimeInSeconds", 0}}));
  create("next");
  EXPECT_FALSE(account().audit().job("next")->warm);
}

TEST_F(Pools, APoolEndsWhenItsTimeHasComeOrWhenReleased) {
  create("expires");
  pass(k_cold_job_s + 700.0);
  EXPECT_EQ(pool_status("expires"), "Terminated");
  EXPECT_EQ(describe("expires")["WarmPoolStatus"]["ResourceRetainedBillableTimeInSeconds"], 600);

  create("released");
  pass(k_cold_job_s + 10.0);
  update("released", 0);
  EXPECT_EQ(pool_status("released"), "Terminated");
  EXPECT_NEAR(account().audit().pool_of("released")->retained_s, 8.0, 1.5);
  const auto late = call(
      "UpdateTrainingJob",
      {{"TrainingJobName", "released"}, {"ResourceConfig", {{"KeepAlivePeriodInSeconds", 60}}}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "ValidationException");
}

TEST_F(Pools, AnUpdateProlongsAPool) {
  create("job");
  pass(k_cold_job_s + 10.0);
  update("job", 3600);
  pass(2000.0);
  EXPECT_EQ(pool_status("job"), "Available");
}

TEST_F(Pools, UnusedPoolsCountAgainstTheQuota) {
  options.training_quota = {{"*", 1}};
  create("first");
  pass(k_cold_job_s + 10.0);
  const auto other =
      call("CreateTrainingJob", request("other", {{"ResourceConfig", resources(600, 11)}}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "ResourceLimitExceeded");
  create("same");
}

TEST_F(Pools, PoolsAreFoundByTheirStatus) {
  create("job");
  pass(k_cold_job_s + 10.0);
  create("plain", {{"ResourceConfig", resources(0, 12)}});
  const auto page = call("ListTrainingJobs", {{"WarmPoolStatusEquals", "Available"}});
  ASSERT_TRUE(page);
  ASSERT_EQ((*page)["TrainingJobSummaries"].size(), 1U);
  EXPECT_EQ((*page)["TrainingJobSummaries"][0]["TrainingJobName"], "job");
}

}  // namespace
}  // namespace steptune::simulated
