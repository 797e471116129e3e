// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_site.hpp"

#include <filesystem>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns markup, terminal control, a spreadsheet's formula and invalid UTF-8, in a long text.
std::string hostile_text() {
  return "=1+1<script>alert(1)</script>'\"><img src=x onerror=alert(1)>\x1b[31m\xff\xc3(\r\n\r\n" +
         std::string(10'000, 'x');
}

class HostileStudy : public testing::Test {
 protected:
  void SetUp() override {
    History history = must(History::open_for_writing(file_, clock_));
    const Json document = Json::parse(R"({"command": ["train"], "objectives": ["time"],
      "parameters": {"mode": {"type": "categorical", "choices": ["a", "b"]}}})");
    const StudyRecord study =
        must(history.create_or_continue_study(hostile_text(), "f", document, 1));
    for (std::int64_t number = 1; number <= 3; ++number) {
      TrialRecord trial;
      trial.number = number;
      trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
      trial.status = number == 3 ? TrialStatus::failed : TrialStatus::completed;
      trial.origin = hostile_text();
      trial.failure = hostile_text();
      trial.configuration.set("mode", hostile_text() + std::to_string(number));
      trial.placement = {{"instances", hostile_text()}};
      if (number < 3) trial.objectives = {static_cast<double>(number)};
      ASSERT_TRUE(history.record_ended(study.id, trial));
    }
  }

  /// Adds a study named `sound`, number 2, and changes the hostile one, number 1, by `sql`.
  void spoil_beside_sound_one(const char* sql) {
    History history = must(History::open_for_writing(file_, clock_));
    const Json document = Json::parse(R"({"command": ["train"], "objectives": ["time"]})");
    must(history.create_or_continue_study("sound", "g", document, 1));
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
  }

  [[nodiscard]] httplib::Response get(const std::string& path) {
    httplib::Request request;
    request.method = "GET";
    request.path = path;
    request.set_header("Host", "localhost:1");
    request.set_header("Authorization", "Bearer 0123456789abcdef");
    httplib::Response response;
    site_.answer(request, response);
    return response;
  }

  TemporaryFolder folder_{"site"};
  std::filesystem::path file_ = folder_.path() / "history.db";
  SystemClock clock_;
  StudySite site_{{file_, "", "0123456789abcdef", 7417, "1"}, clock_};
};

TEST_F(HostileStudy, ItsTextsAreEscapedOnEveryPage) {
  for (const char* path : {"/", "/studies/1"}) {
    const httplib::Response page = get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_THAT(page.body, HasSubstr("&lt;script&gt;alert(1)")) << path;
    EXPECT_THAT(page.body, Not(HasSubstr("<script>alert"))) << path;
    EXPECT_THAT(page.body, Not(HasSubstr("<img"))) << path;
    EXPECT_THAT(page.body, Not(HasSubstr("\x1b"))) << path;
    EXPECT_THAT(page.body, Not(HasSubstr("\xff"))) << path;
    for (const auto& [name, value] : page.headers)
      EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos) << name;
  }
  EXPECT_EQ(get("/metrics").status, 200);
  for (const char* path : {"/api/studies", "/api/studies/1"}) {
    const httplib::Response document = get(path);
    EXPECT_EQ(document.status, 200) << path;
    EXPECT_EQ(document.get_header_value("Content-Type"), "application/json");
    EXPECT_TRUE(Json::accept(document.body)) << path;
  }
}

TEST_F(HostileStudy, MalformedAddressesAndUnknownIdsAreNotFound) {
  for (const char* path : {"/studies/",
                           "/studies/0",
                           "/studies/-1",
                           "/studies/01x",
                           "/studies/1/",
                           "/studies/1/x",
                           "/studies/1/events/",
                           "/studies/99999999999999999999",
                           "/studies/1.0",
                           "/studies/ 1",
                           "/api",
                           "/api/",
                           "/api/studies/",
                           "/api/studies/1/events",
                           "/assets/",
                           "/assets/x",
                           "/assets/../metrics",
                           "//",
                           "/index.html",
                           "",
                           "*"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(get("/studies/2").status, 404);
  EXPECT_THAT(get("/studies/2").body, HasSubstr("there is no study with the id 2"));
}

TEST_F(HostileStudy, AnUnreadableStudyHidesNoOtherStudies) {
  spoil_beside_sound_one("UPDATE trials SET configuration = '[' WHERE study_id = 1");
  EXPECT_EQ(get("/studies/1").status, 503);
  const httplib::Response page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("cannot be read"));
  EXPECT_THAT(page.body, HasSubstr("/studies/2\">sound"));
  EXPECT_EQ(get("/metrics").status, 200);
  EXPECT_EQ(get("/api/studies").status, 200);
}

TEST_F(HostileStudy, AnUnreadableResultHidesNoOtherStudies) {
  spoil_beside_sound_one("UPDATE studies SET recommendation = '{\"trial\": \"\"}' WHERE id = 1");
  const httplib::Response page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("cannot be read: study"));
  EXPECT_THAT(page.body, HasSubstr("/studies/2\">sound"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("\"sound\"} 0\n"));
  EXPECT_EQ(get("/api/studies").status, 200);
}

TEST_F(HostileStudy, UnusedTimeOfItsMachinesIsCountedOnce) {
  const auto idle = [](const std::string& seconds) {
    return HasSubstr("\"} " + seconds + "\n# HELP steptune_tuning_seconds_total");
  };
  EXPECT_THAT(get("/metrics").body, idle("0")) << "a counter that is there from the beginning";
  {
    History history = must(History::open_for_writing(file_, clock_));
    StudyRecord study = must(history.studies()).front();
    study.overhead_usd = 0.5;
    study.unused = {{"job-a", 100.0, 130.0, 0.25}, {"job-b", 200.0, 212.5, 0.25}};
    must(history.record_study(study));
  }
  EXPECT_THAT(get("/metrics").body, idle("42.5"));
  {
    History history = must(History::open_for_writing(file_, clock_));
    StudyRecord study = must(history.studies()).front();
    study.overhead_usd = 0.75;
    study.unused = {{"job-b", 200.0, 220.0, 0.25}};
    must(history.record_study(study));
  }
  EXPECT_THAT(get("/metrics").body, idle("50")) << "a resumed study is not counted twice";
}

TEST_F(HostileStudy, AnEndedStudyShowsItsRecommendation) {
  const auto set = [&](StudyStatus status) {
    History history = must(History::open_for_writing(file_, clock_));
    StudyRecord study = must(history.studies()).front();
    study.status = status;
    Recommendation recommendation;
    recommendation.claim = Claim::nothing_faster;
    recommendation.incumbent_trial = 1;
    recommendation.incumbent_objectives = recommendation.baseline_objectives = {1.3};
    recommendation.tuning_usd = 3.5;
    study.recommendation = to_json(recommendation);
    must(history.record_study(study));
    return history;
  };
  (void)set(StudyStatus::finished);
  EXPECT_THAT(get("/").body, HasSubstr("<td>time/1M samples 1.3 s</td>"));
  EXPECT_THAT(get("/").body, HasSubstr(">$3.50</td>")) << "the cost of the tuning";
  EXPECT_THAT(get("/metrics").body, HasSubstr("\"} 1.3\n"));
  {
    const History held_by_its_tuner = set(StudyStatus::running);
    EXPECT_THAT(get("/").body, HasSubstr("<td>time/1M samples 1.0 s</td>")) << "the best so far";
  }
  EXPECT_THAT(get("/").body, HasSubstr("interrupted")) << "the study's tuner is gone";
}

TEST_F(HostileStudy, TooManyTrialsForAnAnswerAreReported) {
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec(
          "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10010) INSERT "
          "INTO trials SELECT study_id, i, purpose, confirm_pair, '', '{}', status, "
          "attempt, token, started_wall_s, ended_wall_s, spent_s, spent_usd, objective_count, "
          "objective_1, objective_2, standard_error_1, standard_error_2, measurement, "
          "peak_memory_bytes, other_load, steal, '', '{}', log_path FROM trials, n "
          "WHERE number = 2");
  for (const char* path : {"/studies/1", "/api/studies/1"})
    EXPECT_THAT(get(path).body, HasSubstr("10004 trials")) << path;
  EXPECT_EQ(get("/api/studies/1").status, 413);
}

TEST_F(HostileStudy, PagesShowATrialAddedSinceTheLastRequest) {
  const std::string before = get("/studies/1").body;
  EXPECT_EQ(get("/studies/1").body, before);
  {
    History history = must(History::open_for_writing(file_, clock_));
    TrialRecord trial;
    trial.number = 4;
    trial.status = TrialStatus::completed;
    trial.configuration.set("mode", "quickest");
    trial.objectives = {0.5};
    ASSERT_TRUE(history.record_ended(1, trial));
  }
  EXPECT_THAT(get("/studies/1").body, HasSubstr("quickest"));
  EXPECT_THAT(get("/").body, HasSubstr("4 trials"));
}

}  // namespace
}  // namespace steptune
