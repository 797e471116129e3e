// SPDX-License-Identifier: Apache-2.0
//
// Tests when a request is repeated, after which delay, and when the client gives up.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/client_fixture.hpp"

namespace steptune::aws {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

class RetriesTest : public JsonClientTest {
 protected:
  /// Makes a service without a rate limit.
  RetriesTest() { limiter_ = RateLimiter({}, {1e6, 1e6}); }

  static HttpResponse overloaded() { return answer(503, R"({"__type":"ServiceUnavailable"})"); }
  static HttpResponse wrong_time(const char* date) {
    return answer(403, R"({"__type":"InvalidSignatureException","message":"Signature expired"})",
                  {{"Date", date}});
  }
  [[nodiscard]] std::string signed_at(std::size_t request) const {
    for (const auto& [name, value] : transport_.requests.at(request).headers) {
      if (name == "X-Amz-Date") return value;
    }
    return "not signed";
  }
};

TEST_F(RetriesTest, TheDelayDoublesUpToItsCapAndIsNeverLonger) {
  constexpr RetryPolicy k_policy{12, 1.0, 20.0};
  for (int seed = 0; seed < 40; ++seed) {
    rng_ = Rng(static_cast<std::uint64_t>(seed), "retries");
    waits_s_.clear();
    transport_.requests.clear();
    transport_.script = {overloaded()};
    JsonClient json_client = client(k_policy);
    ASSERT_FALSE(json_client.call(k_service, "ListTrainingJobs", {}));
    ASSERT_EQ(transport_.requests.size(), 12U);
    // Each request is preceded by a wait for the rate limit; between two requests comes the delay.
    double longest_s = k_policy.base_s;
    for (std::size_t retry = 1; retry < 12; ++retry) {
      const double delay_s = waits_s_.at(2 * retry - 1);
      EXPECT_GE(delay_s, 0.0);
      EXPECT_LE(delay_s, longest_s) << "retry " << retry << ", seed " << seed;
      longest_s = std::min(k_policy.cap_s, 2.0 * longest_s);
    }
  }
}

TEST_F(RetriesTest, ClientsThatFailTogetherDoNotComeBackTogether) {
  double least_s = 1e9;
  double most_s = 0.0;
  for (int seed = 0; seed < 40; ++seed) {
    rng_ = Rng(static_cast<std::uint64_t>(seed), "jitter");
    waits_s_.clear();
    transport_.script = {overloaded(), answer(200, "{}")};
    ASSERT_TRUE(create());
    least_s = std::min(least_s, waits_s_.at(1));
    most_s = std::max(most_s, waits_s_.at(1));
  }
  EXPECT_LT(least_s, 0.2);
  EXPECT_GT(most_s, 0.8);
}

TEST_F(RetriesTest, TheCallerMayAskForFewerAttempts) {
  transport_.script = {overloaded()};
  JsonClient json_client = client();
  const auto result = json_client.call(k_service, "ListTrainingJobs", {}, 2);
  ASSERT_FALSE(result);
  EXPECT_EQ(transport_.requests.size(), 2U);
  EXPECT_EQ(result.error().attempts, 2);
}

TEST_F(RetriesTest, AStopEndsTheAttempts) {
  transport_.script = {overloaded()};
  const auto asks_after = [&](std::size_t requests, double seconds) {
    transport_.requests.clear();
    interrupts_ = [this, requests, since_s = std::optional<double>(), seconds]() mutable {
      // One interrupt came before the call, and does not end it. A second one does.
      if (transport_.requests.size() < requests) return 1;
      if (!since_s) since_s = clock_.now_s();
      return clock_.now_s() >= *since_s + seconds ? 2 : 1;
    };
    const double begun_s = clock_.now_s();
    const auto result = client().call(k_service, "ListTrainingJobs", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "ServiceUnavailable");
    EXPECT_EQ(result.error().attempts, static_cast<int>(requests));
    EXPECT_LT(clock_.now_s() - begun_s, 4.0 + seconds);
  };
  asks_after(1, 0.0);
  asks_after(3, 0.01);
  interrupts_ = [this] { return static_cast<int>(transport_.requests.size()); };
  transport_.requests.clear();
  ASSERT_FALSE(create());
  EXPECT_EQ(transport_.requests.size(), 12U) << "a job that may have been created costs money";
  interrupts_ = [] { return 7; };
  transport_.requests.clear();
  ASSERT_FALSE(create());
  EXPECT_EQ(transport_.requests.size(), 12U) << "requests that end jobs are retried as often";
}

TEST_F(RetriesTest, MissingCredentialsSendNothing) {
  credentials_fault_ = "the SSO session has expired";
  transport_.script = {answer(200, "{}")};
  const auto result = create();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the SSO session has expired"));
  EXPECT_FALSE(result.error().outcome_unknown()) << "nothing was sent";
  EXPECT_EQ(result.error().attempts, 1);
  EXPECT_THAT(transport_.requests, ::testing::IsEmpty());
}

TEST_F(RetriesTest, EachAttemptIsSignedAnew) {
  transport_.script = {overloaded(), overloaded(), answer(200, "{}")};
  JsonClient json_client = client({12, 600.0, 6000.0});
  ASSERT_TRUE(json_client.call(k_service, "ListTrainingJobs", {}));
  EXPECT_NE(signed_at(0), signed_at(2));
}

TEST_F(RetriesTest, RequestsGoToTheServiceAndAreSignedForItsRegion) {
  transport_.script = {answer(200, "{}")};
  JsonService service = k_service;
  service.host = "127.0.0.1:4566";
  service.scheme = "http";
  service.region = "eu-central-1";
  JsonClient json_client = client();
  ASSERT_TRUE(json_client.call(service, "ListTrainingJobs", {}));
  EXPECT_EQ(transport_.requests.at(0).url(), "http://127.0.0.1:4566/");
  EXPECT_THAT(transport_.requests.at(0).headers,
              Contains(Pair("Authorization", HasSubstr("/eu-central-1/sagemaker/"))));
  EXPECT_EQ(transport_.requests.at(0).body, "{}") << "an operation without input";
}

TEST_F(RetriesTest, AClockThatJumpsAgainIsCorrectedAgain) {
  JsonClient json_client = client();
  transport_.script = {wrong_time("Sat, 21 Nov 2026 08:00:00 GMT"), answer(200, "{}")};
  ASSERT_TRUE(json_client.call(k_service, "ListTrainingJobs", {}));
  EXPECT_THAT(signed_at(1), HasSubstr("20261121T0800"));

  transport_.script = {wrong_time("Sat, 21 Nov 2026 18:00:00 GMT"), answer(200, "{}")};
  ASSERT_TRUE(json_client.call(k_service, "ListTrainingJobs", {}));
  EXPECT_THAT(signed_at(3), HasSubstr("20261121T1800"));
}

TEST_F(RetriesTest, AWrongSignatureIsNotSentAgain) {
  JsonClient json_client = client();
  // The virtual clock reads 2026-11-18 11:06:40 UTC.
  for (const char* date : {"Wed, 18 Nov 2026 11:07:00 GMT", "Wed, 18 Nov 2026 11:10:39 GMT",
                           "Wed, 18 Nov 2026 11:03:00 GMT", "yesterday", ""}) {
    transport_.requests.clear();
    transport_.script = {wrong_time(date)};
    const auto result = json_client.call(k_service, "ListTrainingJobs", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "InvalidSignatureException") << date;
    EXPECT_EQ(transport_.requests.size(), 1U) << date;
  }
}

TEST_F(RetriesTest, ARequestWithTheServersOwnTimeIsRetriedOnce) {
  transport_.script = {wrong_time("Sat, 21 Nov 2026 08:00:00 GMT")};
  const auto result = create();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "InvalidSignatureException");
  EXPECT_EQ(transport_.requests.size(), 2U);
}

TEST_F(RetriesTest, AnotherRefusalDoesNotMoveTheClock) {
  JsonClient json_client = client();
  transport_.script = {answer(403, R"({"__type":"AccessDeniedException"})",
                              {{"Date", "Sat, 21 Nov 2026 08:00:00 GMT"}}),
                       answer(200, "{}")};
  ASSERT_FALSE(json_client.call(k_service, "ListTrainingJobs", {}));
  ASSERT_TRUE(json_client.call(k_service, "ListTrainingJobs", {}));
  EXPECT_THAT(signed_at(1), HasSubstr("20261118T1106"));
}

}  // namespace
}  // namespace steptune::aws
