// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"

namespace steptune::simulated {
namespace {

class Requests : public AccountTest {};

TEST_F(Requests, BeyondTheRateAreThrottledAndCounted) {
  options.request_latency_s = 0.01;
  limiter = aws::RateLimiter({}, {1000.0, 1000.0});
  max_attempts = 1;
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const auto page = call("ListTrainingJobs", Json::object());
    if (page) continue;
    ++refused;
    EXPECT_EQ(page.error().code, "ThrottlingException");
    EXPECT_EQ(page.error().message, "Rate exceeded");
  }
  EXPECT_EQ(refused, 18) << "two a second, and 0.2 s earn less than one more";
  const AccountAudit audit = account().audit();
  EXPECT_EQ(audit.refused.at("ListTrainingJobs"), 18);
  EXPECT_EQ(audit.most_per_second.at("ListTrainingJobs"), 20);
}

TEST_F(Requests, TheClientsPacingStaysUnderTheRates) {
  options.training_quota = {{"*", 10}};
  for (int i = 0; i < 10; ++i)
    create(fmt::format("job-{}", i));
  for (int i = 0; i < 30; ++i)
    EXPECT_TRUE(describe("job-1").contains("CreationTime"));
  const AccountAudit audit = account().audit();
  EXPECT_TRUE(audit.refused.empty());
  EXPECT_LE(audit.most_per_second.at("CreateTrainingJob"), 1);
  EXPECT_LE(audit.most_per_second.at("DescribeTrainingJob"), 5);
}

TEST_F(Requests, EachRequestTakesTheLatency) {
  options.request_latency_s = 0.25;
  create("job");
  EXPECT_DOUBLE_EQ(clock_.now_s(), 0.25);
  EXPECT_DOUBLE_EQ(account().audit().job("job")->created_s, 0.25);
}

TEST_F(Requests, TimesFollowTheAccountsOwnClock) {
  options.clock_ahead_s = 3600.0;
  create("job");
  EXPECT_NEAR(describe("job")["CreationTime"].get<double>(), clock_.wall_time_s() + 3600.0, 1.0);
}

TEST_F(Requests, UnknownOperationsAndInvalidJsonAreRefused) {
  const auto unknown = call("CreateEndpoint", Json::object());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "UnknownOperationException");
  const auto wrong_type = call("DescribeTrainingJob", {{"TrainingJobName", 7}});
  ASSERT_FALSE(wrong_type);
  EXPECT_EQ(wrong_type.error().code, "SerializationException");
}

}  // namespace
}  // namespace steptune::simulated
