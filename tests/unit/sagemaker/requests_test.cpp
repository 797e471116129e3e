// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sagemaker/account_fixture.hpp"

namespace steptune::simulated {
namespace {

using testing::HasSubstr;

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

class Signatures : public AccountTest {
 protected:
  Signatures() { options.keys["AKID"] = {Secret("sesame"), Secret("token"), std::nullopt}; }
  std::string refusal() {
    max_attempts = 1;
    const auto page = call("ListTrainingJobs", Json::object());
    EXPECT_FALSE(page);
    return page ? std::string() : page.error().code;
  }
};

TEST_F(Signatures, TheClientsSignatureIsAccepted) {
  EXPECT_TRUE(call("ListTrainingJobs", Json::object()));
}

TEST_F(Signatures, AWrongSecretIsRefused) {
  credentials.secret_access_key = Secret("guessed");
  EXPECT_EQ(refusal(), "InvalidSignatureException");
}

TEST_F(Signatures, AnUnknownKeyOrTokenIsRefused) {
  credentials.session_token = Secret("another");
  EXPECT_EQ(refusal(), "UnrecognizedClientException");
  credentials.session_token = Secret("token");
  credentials.access_key_id = "ANOTHER";
  EXPECT_EQ(refusal(), "UnrecognizedClientException");
}

TEST_F(Signatures, AnUnsignedRequestIsRefused) {
  aws::HttpRequest unsigned_request;
  unsigned_request.headers = {{"X-Amz-Target", "SageMaker.ListTrainingJobs"}};
  unsigned_request.body = "{}";
  const auto response = account().send(unsigned_request, {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 403);
  EXPECT_THAT(response->body, HasSubstr("MissingAuthenticationTokenException"));
}

TEST_F(Signatures, ABodyChangedOnTheWayIsRefused) {
  aws::HttpRequest request;
  request.host = "api.sagemaker.us-east-1.amazonaws.com";
  request.headers = {{"X-Amz-Target", "SageMaker.ListTrainingJobs"}};
  request.body = "{}";
  aws::sign(request, credentials, {"us-east-1", "sagemaker", clock_.wall_time_s()});
  EXPECT_EQ(account().send(request, {})->status, 200);
  request.body = R"({"MaxResults":100})";
  EXPECT_THAT(account().send(request, {})->body, HasSubstr("InvalidSignatureException"));
}

TEST_F(Signatures, AClockThatDisagreesIsCorrectedByTheClient) {
  options.clock_ahead_s = 3600.0;
  EXPECT_TRUE(call("ListTrainingJobs", Json::object()));
  EXPECT_EQ(account().audit().requests, 2) << "refused once, then signed with the server's time";
}

TEST_F(Signatures, ExpiredKeysAreRenewedAndThenRefused) {
  options.keys["AKID"].expiration_wall_s = clock_.wall_time_s() + 100.0;
  EXPECT_TRUE(call("ListTrainingJobs", Json::object()));
  pass(200.0);
  const auto page = call("ListTrainingJobs", Json::object());
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, "ExpiredTokenException");
  EXPECT_EQ(refreshes, 1);
}

TEST_F(Requests, UnknownOperationsAndInvalidJsonAreRefused) {
  const auto unknown = call("CreateEndpoint", Json::object());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "UnknownOperationException");
  const auto wrong_type = call("DescribeTrainingJob", {{"TrainingJobName", 7}});
  ASSERT_FALSE(wrong_type);
  EXPECT_EQ(wrong_type.error().code, "SerializationException");
}

TEST_F(Requests, ObjectsAreAcceptedAndRemembered) {
  aws::HttpRequest put;
  put.method = "PUT";
  put.host = "bucket.s3.us-east-1.amazonaws.com";
  put.path = "/code.tar.gz";
  put.body = "content";
  EXPECT_EQ(account().send(put, {})->status, 200);
  put.method = "HEAD";
  EXPECT_EQ(account().send(put, {})->status, 200);
  put.path = "/other.tar.gz";
  EXPECT_EQ(account().send(put, {})->status, 404);
}

TEST_F(Requests, TagsCanBeRead) {
  create("job", {{"Tags", Json::array({{{"Key", "steptune"}, {"Value", "study"}}})}});
  const auto tags = call("ListTags", {{"ResourceArn", describe("job")["TrainingJobArn"]}});
  ASSERT_TRUE(tags);
  EXPECT_EQ((*tags)["Tags"][0]["Value"], "study");
  EXPECT_FALSE(describe("job").contains("Tags"));
}

}  // namespace
}  // namespace steptune::simulated
