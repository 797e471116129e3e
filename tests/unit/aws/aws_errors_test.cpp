// SPDX-License-Identifier: Apache-2.0
//
// Tests the names of a service's refusals, whether they may pass, and the advice to people.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune::aws {
namespace {

using ::testing::HasSubstr;

AwsError refusal(std::string code, int http_status = 400) {
  AwsError error;
  error.code = std::move(code);
  error.message = "as said";
  error.operation = "StopTrainingJob";
  error.http_status = http_status;
  return error;
}

std::string advice_on(const char* code) {
  return refusal(code).to_error().hint;
}

TEST(AwsErrors, PermanentErrorsSayWhatToDo) {
  for (const char* code : {"AccessDeniedException", "AccessDenied"}) {
    EXPECT_THAT(advice_on(code), HasSubstr("allow StopTrainingJob in the IAM policy")) << code;
  }
  for (const char* code : {"ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException"})
    EXPECT_THAT(advice_on(code), HasSubstr("aws sso login")) << code;
  for (const char* code : {"SignatureDoesNotMatch", "InvalidClientTokenId"})
    EXPECT_THAT(advice_on(code), HasSubstr("the access key and its secret")) << code;
  EXPECT_EQ(advice_on("ValidationException"), "") << "the service's message says it";
  EXPECT_THAT(refusal("NoResponse", 0).to_error().hint, HasSubstr("check the network"));
}

TEST(AwsErrors, NameTheOperationTheRequestAndTheAttempts) {
  AwsError error = refusal("ValidationException");
  EXPECT_EQ(error.to_error().where, "StopTrainingJob");
  EXPECT_EQ(error.to_error().message, "ValidationException: as said");
  error.attempts = 1;
  EXPECT_EQ(error.to_error().message, "ValidationException: as said") << "the first is no retry";
  error.attempts = 2;
  error.request_id = "7f-\x1b[31m1";
  EXPECT_EQ(error.to_error().message,
            "ValidationException: as said (after 2 attempts) [request 7f-1]");
}

TEST(AwsErrors, OnlyTemporaryErrorsAreUnavailable) {
  const auto kind = [](const AwsError& error) { return error.to_error().kind; };
  for (const char* code : {"ThrottlingException", "SlowDown", "RequestTimeout", "InternalFailure",
                           "ServiceUnavailable", "LimitExceededException"})
    EXPECT_EQ(kind(refusal(code)), ErrorKind::unavailable) << code;
  EXPECT_EQ(kind(refusal("Odd", 429)), ErrorKind::unavailable);
  EXPECT_EQ(kind(refusal("Odd", 500)), ErrorKind::unavailable);
  EXPECT_EQ(kind(refusal("Odd", 503)), ErrorKind::unavailable);
  EXPECT_EQ(kind(refusal("Odd", 0)), ErrorKind::unavailable) << "no response";
  EXPECT_EQ(kind(refusal("Odd", 499)), ErrorKind::runner);
  EXPECT_EQ(kind(refusal("ResourceLimitExceeded")), ErrorKind::runner)
      << "a quota of instances is no rate";
}

TEST(AwsErrors, ThrottlingDiffersFromTemporaryFaults) {
  EXPECT_TRUE(is_throttling(refusal("TooManyRequestsException")));
  EXPECT_TRUE(is_throttling(refusal("Odd", 429)));
  EXPECT_FALSE(is_throttling(refusal("InternalFailure", 500)));
  EXPECT_TRUE(is_transient(refusal("InternalFailure")));
  EXPECT_FALSE(is_transient(refusal("TooManyRequestsException")));
}

TEST(AwsErrors, TheCodeIsReadFromHeaderThenTypeThenCode) {
  const auto code = [](Headers headers, std::string body) {
    return parse_error_response({400, std::move(headers), std::move(body)}, "List").code;
  };
  const std::string both = R"({"__type":"FromType","code":"FromCode"})";
  EXPECT_EQ(code({{"x-amzn-errortype", "FromHeader:http://internal/"}}, both), "FromHeader");
  EXPECT_EQ(code({}, both), "FromType");
  EXPECT_EQ(code({}, R"({"code":"FromCode"})"), "FromCode");
  EXPECT_EQ(code({}, R"({"__type":"a.b#c#Last"})"), "Last");
  EXPECT_EQ(code({}, R"({"__type":17,"code":"FromCode"})"), "FromCode");
  EXPECT_EQ(code({}, R"({"__type":null})"), "HTTP400");
  EXPECT_EQ(code({}, R"(["__type"])"), "HTTP400");
}

TEST(AwsErrors, TheFirstMessageIsTaken) {
  const auto message = [](std::string body) {
    return parse_error_response({400, {}, std::move(body)}, "List").message;
  };
  EXPECT_EQ(message(R"({"message":"small","Message":"capital"})"), "small");
  EXPECT_EQ(message(R"({"message":3,"Message":"capital"})"), "capital");
  EXPECT_EQ(message(R"({"message":["a"]})"), "");
  EXPECT_EQ(message(std::string(5000, 'x')).size(), 1024U) << "a page of a proxy is cut";
}

TEST(AwsErrors, HaveTheIdOperationAndStatusOfTheirRequest) {
  const AwsError error =
      parse_error_response({503, {{"X-AMZN-REQUESTID", "abc"}}, ""}, "DescribeTrainingJob");
  EXPECT_EQ(error.request_id, "abc");
  EXPECT_EQ(error.operation, "DescribeTrainingJob");
  EXPECT_EQ(error.http_status, 503);
  EXPECT_FALSE(error.outcome_unknown()) << "the service has answered";
}

}  // namespace
}  // namespace steptune::aws
