// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/client.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/client_fixture.hpp"

namespace steptune::aws {
namespace {

using testing::HasSubstr;

TEST_F(JsonClientTest, SendsASignedRequestOfTheJsonProtocol) {
  transport_.script = {answer(200, R"({"TrainingJobArn":"arn"})")};
  const auto result = create({{"TrainingJobName", "a"}});
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)["TrainingJobArn"], "arn");
  const HttpRequest& request = transport_.requests.at(0);
  EXPECT_EQ(request.body, R"({"TrainingJobName":"a"})");
  EXPECT_THAT(request.headers,
              testing::Contains(testing::Pair("X-Amz-Target", "SageMaker.CreateTrainingJob")));
  EXPECT_THAT(request.headers,
              testing::Contains(testing::Pair("Authorization", HasSubstr("us-east-1/sagemaker"))));
}

TEST_F(JsonClientTest, AnEmptyBodyIsAnEmptyObject) {
  transport_.script = {answer(200, "")};
  EXPECT_EQ(create(), Json::object());
}

TEST_F(JsonClientTest, ThrottlingIsRetriedAndPaced) {
  const auto throttled =
      answer(400, R"({"__type":"ThrottlingException","message":"Rate exceeded"})");
  transport_.script = {throttled, throttled, throttled, answer(200, "{}")};
  const double start_s = clock_.now_s();
  EXPECT_TRUE(create());
  EXPECT_EQ(transport_.requests.size(), 4U);
  EXPECT_GE(clock_.now_s() - start_s, 3 / 0.8) << "faster than one request in 1.25 s";
}

TEST_F(JsonClientTest, PermanentErrorsAreNotRetried) {
  transport_.script = {answer(400, R"({"__type":"com.amazon#ValidationException:http://x",
                                       "message":"Requested resource not found."})")};
  const auto result = create();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "ValidationException");
  EXPECT_EQ(result.error().message, "Requested resource not found.");
  EXPECT_EQ(transport_.requests.size(), 1U);
}

TEST_F(JsonClientTest, ModelledErrorsSpellTheirMessageWithACapital) {
  transport_.script = {answer(400, R"({"__type":"ResourceInUse","Message":"must be unique"})")};
  EXPECT_EQ(create().error().message, "must be unique");
}

TEST_F(JsonClientTest, ALostResponseIsRetriedAndThenUnknown) {
  transport_.script = {fail(ErrorKind::unavailable, "connection reset")};
  const auto result = create();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().outcome_unknown());
  EXPECT_EQ(result.error().attempts, 12);
  EXPECT_EQ(result.error().to_error().kind, ErrorKind::unavailable);
}

TEST_F(JsonClientTest, TruncatedJsonCountsAsNoResponse) {
  transport_.script = {answer(200, R"({"TrainingJobArn":"ar)"), answer(200, "{}")};
  EXPECT_TRUE(create());
  EXPECT_EQ(transport_.requests.size(), 2U);
}

TEST_F(JsonClientTest, ABodyThatIsNotJsonIsTheMessage) {
  transport_.script = {answer(413, "<html>too large</html>")};
  const auto result = create();
  EXPECT_EQ(result.error().code, "HTTP413");
  EXPECT_THAT(result.error().to_error().text(), HasSubstr("too large"));
}

TEST_F(JsonClientTest, ExpiredCredentialsAreReplacedOnce) {
  const auto expired = answer(400, R"({"__type":"ExpiredTokenException","message":"expired"})");
  transport_.script = {expired, answer(200, "{}")};
  EXPECT_TRUE(create());
  EXPECT_EQ(refreshes_, 1);
  transport_.script = {expired};
  EXPECT_FALSE(create());
  EXPECT_EQ(refreshes_, 2);
}

TEST_F(JsonClientTest, ErrorsContainNoSecret) {
  transport_.script = {answer(403, R"({"__type":"AccessDeniedException","message":"no"})")};
  const std::string text = create().error().to_error().text();
  EXPECT_THAT(text, HasSubstr("AccessDeniedException: no"));
  EXPECT_THAT(text, testing::Not(HasSubstr("sesame")));
  EXPECT_THAT(text, testing::Not(HasSubstr("token")));
}

}  // namespace
}  // namespace steptune::aws
