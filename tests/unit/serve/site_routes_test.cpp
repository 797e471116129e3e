// SPDX-License-Identifier: Apache-2.0
// Tests every address of the site: who gets which answer, with which headers.
#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "common/rng.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/serve/study_site.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* k_site_token = "0123456789abcdef";
const std::vector<std::string> k_routes{
    "/",       "/studies/1",       "/metrics", "/api/studies", "/api/studies/1",
    "/events", "/studies/1/events"};

class SiteRoutes : public testing::Test {
 protected:
  void SetUp() override {
    History history = must(History::open_for_writing(file_, clock_));
    const Json document = Json::parse(R"({"command": ["train"], "objectives": ["time"],
      "parameters": {"workers": {"type": "int", "low": 0, "high": 4}}})");
    const StudyRecord study = must(history.create_or_continue_study("nightly", "f", document, 1));
    TrialRecord trial;
    trial.number = 1;
    trial.purpose = TrialPurpose::baseline;
    trial.status = TrialStatus::completed;
    trial.configuration.set("workers", std::int64_t{2});
    trial.objectives = {12.0};
    ASSERT_TRUE(history.record_ended(study.id, trial));
  }

  static httplib::Request request(const std::string& path, const std::string& method = "GET") {
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.set_header("Host", "localhost:7417");
    return request;
  }
  static httplib::Request with_token(const std::string& path, const std::string& method = "GET") {
    httplib::Request asked = request(path, method);
    asked.set_header("Authorization", std::string("Bearer ") + k_site_token);
    return asked;
  }
  httplib::Response answer(const httplib::Request& asked) {
    httplib::Response response;
    site_.answer(asked, response);
    return response;
  }

  TemporaryFolder folder_{"routes"};
  std::filesystem::path file_ = folder_.path() / "history.db";
  SystemClock clock_;
  StudySite site_{{file_, "", k_site_token, 7417, "1.2.3"}, clock_};
};

TEST_F(SiteRoutes, EachAnswersWithItsType) {
  const std::map<std::string, std::string> types{{"/", "text/html"},
                                                 {"/studies/1", "text/html"},
                                                 {"/metrics", "text/plain"},
                                                 {"/api/studies", "application/json"},
                                                 {"/api/studies/1", "application/json"},
                                                 {"/events", "text/event-stream"},
                                                 {"/studies/1/events", "text/event-stream"}};
  for (const auto& [path, type] : types) {
    const httplib::Response response = answer(with_token(path));
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_THAT(response.get_header_value("Content-Type"), StartsWith(type)) << path;
  }
}

TEST_F(SiteRoutes, EachAnswerGoodOrBadHasTheSecurityHeadersOnce) {
  std::vector<httplib::Request> requests;
  for (const std::string& path : k_routes) {
    requests.push_back(with_token(path));
    requests.push_back(request(path));
    requests.push_back(with_token(path, "POST"));
  }
  requests.push_back(with_token("/nothing"));
  requests.push_back(with_token("/studies/99"));
  httplib::Request foreign = with_token("/");
  foreign.headers.erase("Host");
  requests.push_back(foreign);
  for (const httplib::Request& asked : requests) {
    const httplib::Response response = answer(asked);
    EXPECT_THAT(response.get_header_value("Content-Security-Policy"),
                HasSubstr("default-src 'none'"));
    EXPECT_THAT(response.get_header_value("Content-Security-Policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(response.get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(response.get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(response.get_header_value("Cache-Control"), "no-store");
    for (const char* once : {"Content-Security-Policy", "Content-Type", "Cache-Control"})
      EXPECT_LE(response.get_header_value_count(once), 1U) << asked.path << ' ' << once;
    EXPECT_EQ(response.get_header_value_count("Access-Control-Allow-Origin"), 0U);
  }
}

TEST_F(SiteRoutes, ChangeNothingWhateverTheMethod) {
  for (const std::string& path : k_routes) {
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", ""}) {
      const httplib::Response response = answer(with_token(path, method));
      EXPECT_EQ(response.status, 405) << method << ' ' << path;
      EXPECT_EQ(response.get_header_value("Allow"), "GET, HEAD");
    }
    EXPECT_EQ(answer(with_token(path, "HEAD")).status, 200) << path;
  }
}

TEST_F(SiteRoutes, RevealNothingWithoutTheToken) {
  for (const std::string& path : k_routes) {
    const httplib::Response response = answer(request(path));
    EXPECT_EQ(response.status, 401) << path;
    EXPECT_THAT(response.get_header_value("WWW-Authenticate"), StartsWith("Bearer")) << path;
    EXPECT_THAT(response.body, Not(HasSubstr("nightly"))) << path;
    EXPECT_THAT(response.body, Not(HasSubstr(k_site_token))) << path;
    EXPECT_EQ(response.get_header_value_count("Set-Cookie"), 0U) << path;
  }
}

TEST_F(SiteRoutes, AnotherHostIsRefusedEvenWithTheToken) {
  for (const char* host : {"evil.example", "192.168.0.1:7417", ""}) {
    httplib::Request asked = with_token("/studies/1");
    asked.headers.erase("Host");
    if (*host != '\0') asked.set_header("Host", host);
    EXPECT_EQ(answer(asked).status, 403) << host;
  }
  httplib::Request twice = with_token("/");
  twice.headers.emplace("Host", "evil.example");
  EXPECT_EQ(answer(twice).status, 403);
}

TEST_F(SiteRoutes, ATokenInThePageAddressMovesIntoACookie) {
  for (const std::string path : {"/", "/studies/1"}) {
    httplib::Request asked = request(path);
    asked.params.emplace("token", k_site_token);
    const httplib::Response response = answer(asked);
    EXPECT_EQ(response.status, 303);
    EXPECT_EQ(response.get_header_value("Location"), path);
    EXPECT_EQ(response.get_header_value("Set-Cookie"),
              std::string("steptune_7417=") + k_site_token + "; Path=/; HttpOnly; SameSite=Strict");
    httplib::Request next = request(path);
    next.set_header("Cookie", std::string("a=1; steptune_7417=") + k_site_token);
    EXPECT_EQ(answer(next).status, 200) << path;
    next.headers.erase("Cookie");
    next.set_header("Cookie", std::string("steptune_7418=") + k_site_token);
    EXPECT_EQ(answer(next).status, 401) << "another port's site";
  }
  // Programs that request documents are answered at once.
  httplib::Request metrics = request("/metrics");
  metrics.params.emplace("token", k_site_token);
  EXPECT_EQ(answer(metrics).status, 200);
}

TEST_F(SiteRoutes, OtherQueriesChangeNothing) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"since", "x\r\nSet-Cookie: y"}, {"limit", "-1"}, {"", ""}, {"id", "2"}}) {
    for (const std::string path : {"/", "/studies/1", "/api/studies/1"}) {
      httplib::Request asked = with_token(path);
      asked.params.emplace(name, value);
      const httplib::Response response = answer(asked);
      EXPECT_EQ(response.status, 200) << path << '?' << name;
      EXPECT_EQ(response.body, answer(with_token(path)).body) << path << '?' << name;
    }
  }
}

TEST_F(SiteRoutes, AllOtherAddressesAreNotFound) {
  Rng rng(1, "addresses");
  const std::vector<std::string> pieces{
      "/",      "studies", "1",      "2",    "events", "api", "metrics", "..",
      "assets", "%2e",     "report", ".css", "-1",     " ",   "\xff",    "99999999999999999999"};
  const std::set<std::string> known(k_routes.begin(), k_routes.end());
  for (int i = 0; i < 2000; ++i) {
    std::string path = "/";
    for (std::uint64_t k = rng.below(6); k > 0; --k)
      path += pieces[rng.below(pieces.size())];
    const int status = answer(with_token(path)).status;
    EXPECT_EQ(status, known.contains(path) ? 200 : 404) << path;
  }
}

TEST_F(SiteRoutes, JsonAndMetricsDescribeTheStudy) {
  const Json studies = Json::parse(answer(with_token("/api/studies")).body);
  EXPECT_EQ(studies["schema_version"], 1);
  EXPECT_EQ(studies["studies"][0]["name"], "nightly");
  const Json board = Json::parse(answer(with_token("/api/studies/1")).body);
  EXPECT_EQ(board["schema_version"], 1);
  EXPECT_THAT(board.dump(), HasSubstr("\"workers\":2"));
  EXPECT_THAT(answer(with_token("/metrics")).body,
              HasSubstr("steptune_build_info{version=\"1.2.3\"} 1"));
}

}  // namespace
}  // namespace steptune
