// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/log_follower.hpp"

#include <deque>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trial_runner/sagemaker/aws/rate_limiter.hpp"

namespace steptune {
namespace {

constexpr double k_logs_begin_s = 1'795'000'000.0;

class ScriptedLogs final : public aws::HttpTransport {
 public:
  Result<aws::HttpResponse> send(const aws::HttpRequest& request,
                                 const aws::HttpTimeouts&) override {
    requests.push_back(Json::parse(request.body));
    if (pages.empty()) return aws::HttpResponse{200, {}, R"({"events": []})"};
    auto page = pages.front();
    pages.pop_front();
    return page;
  }
  void page(int status, std::string body) { pages.push_back({status, {}, std::move(body)}); }

  std::deque<aws::HttpResponse> pages;
  std::vector<Json> requests;
};

std::string event(const std::string& id, double seconds, const std::string& job = "s-1-t1-a1") {
  return fmt::format(
      R"({{"eventId": "{}", "timestamp": {}, "logStreamName": "{}/algo-2-17", "message": "m{}"}})",
      id, static_cast<std::int64_t>((k_logs_begin_s + seconds) * 1e3), job, id);
}

std::string page_of(const std::vector<std::string>& events, const std::string& token = {}) {
  std::string text;
  for (const std::string& one : events)
    text += (text.empty() ? "" : ",") + one;
  return fmt::format(R"({{"events": [{}]{}}})", text,
                     token.empty() ? "" : fmt::format(R"(, "nextToken": "{}")", token));
}

class LogFollowerTest : public testing::Test {
 protected:
  std::vector<std::string> poll() {
    const auto lines = follower_.poll();
    EXPECT_TRUE(lines) << (lines ? "" : lines.error().message);
    std::vector<std::string> texts;
    if (lines) {
      for (const LogLine& line : *lines)
        texts.push_back(line.text);
    }
    return texts;
  }

  VirtualClock clock_{k_logs_begin_s};
  ScriptedLogs logs_;
  aws::RateLimiter limiter_ = aws::sagemaker_rate_limiter();
  Rng rng_{1, "log_follower_test"};
  aws::JsonClient client_{{logs_, clock_, limiter_, rng_,
                           [](bool) -> Result<aws::Credentials> {
                             return aws::Credentials{"AKID", Secret("s"), Secret(""), {}, "test"};
                           },
                           [this](double time_s) {
                             clock_.advance_to(time_s);
                             return true;
                           },
                           "us-east-1"},
                          {2, 0.1, 0.1}};
  LogFollower follower_{client_,
                        {"logs", "Logs_20140328", "application/x-amz-json-1.1", "http", "h"},
                        "s-1-",
                        k_logs_begin_s};
};

using Texts = std::vector<std::string>;

TEST_F(LogFollowerTest, AsksForAllJobsOfTheStudyAndReadsNames) {
  logs_.page(200, page_of({event("a", 1.0)}));
  const auto lines = follower_.poll();
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 1U);
  EXPECT_EQ(lines->front().job, "s-1-t1-a1");
  EXPECT_EQ(lines->front().host, "algo-2");
  EXPECT_NEAR(lines->front().wall_s, k_logs_begin_s + 1.0, 1e-3);
  EXPECT_EQ(logs_.requests.front()["logStreamNamePrefix"], "s-1-");
  EXPECT_EQ(logs_.requests.front()["startTime"], static_cast<std::int64_t>(k_logs_begin_s * 1e3));
}

TEST_F(LogFollowerTest, EmptyPagesAreNotTheEnd) {
  logs_.page(200, page_of({}, "t1"));
  logs_.page(200, page_of({event("a", 1.0)}, "t2"));
  logs_.page(200, page_of({event("b", 2.0)}));
  EXPECT_EQ(poll(), (Texts{"ma", "mb"}));
  EXPECT_EQ(logs_.requests.back()["nextToken"], "t2");
}

TEST_F(LogFollowerTest, LateEventsAreReadOnce) {
  logs_.page(200, page_of({event("a", 50.0), event("c", 100.0)}));
  EXPECT_EQ(poll(), (Texts{"ma", "mc"}));
  logs_.page(200, page_of({event("a", 50.0), event("b", 60.0), event("c", 100.0)}));
  EXPECT_EQ(poll(), (Texts{"mb"}));
  EXPECT_EQ(logs_.requests.back()["startTime"],
            static_cast<std::int64_t>((k_logs_begin_s + 40.0) * 1e3));
}

TEST_F(LogFollowerTest, AnImpossibleTimeHidesNoLaterLines) {
  logs_.page(200, R"({"events": [{"eventId": "a", "timestamp": 1e300, "message": "ma"}]})");
  EXPECT_EQ(poll(), (Texts{"ma"}));
  logs_.page(200, page_of({event("b", 1.0)}));
  EXPECT_EQ(poll(), (Texts{"mb"}));
  EXPECT_EQ(logs_.requests.back()["startTime"], static_cast<std::int64_t>(k_logs_begin_s * 1e3));
}

TEST_F(LogFollowerTest, APollThatBreaksOffIsReadAgain) {
  logs_.page(200, page_of({event("a", 1.0)}, "t1"));
  logs_.page(400, R"({"__type": "AccessDeniedException", "message": "no"})");
  EXPECT_FALSE(follower_.poll());
  logs_.page(200, page_of({event("a", 1.0), event("b", 2.0)}));
  EXPECT_EQ(poll(), (Texts{"ma", "mb"}));
}

TEST_F(LogFollowerTest, AMissingLogGroupIsEmpty) {
  logs_.page(
      400,
      R"({"__type": "ResourceNotFoundException", "message": "The specified log group does not exist."})");
  EXPECT_EQ(poll(), Texts{});
}

TEST_F(LogFollowerTest, ReachesBackForJobsThatBeganEarlier) {
  follower_.reach_back_to(k_logs_begin_s - 3600.0);
  EXPECT_EQ(poll(), Texts{});
  EXPECT_EQ(logs_.requests.back()["startTime"],
            static_cast<std::int64_t>((k_logs_begin_s - 3600.0) * 1e3));
}

}  // namespace
}  // namespace steptune
