// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/html_report.hpp"

#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/html/chart_data.hpp"
#include "tuner/report/html/html_text.hpp"

namespace steptune {
namespace {

/// Text that breaks out of every place that does not escape it.
constexpr const char* k_hostile =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='x' "
    "&amp;<!--\x1b[31m";

StudyReport some_report(const std::string& hostile = "bf16") {
  Leaderboard input;
  input.study = make_study();
  input.study.name = hostile == "bf16" ? "demo" : hostile;
  input.study.stop_reason = hostile;
  input.objectives = {planned_time(), planned_cost()};
  for (int number = 4; number >= 1; --number) {
    TrialRecord trial = make_trial(number, 40'000.0 - 5'000.0 * number, 200.0, 32 * number);
    trial.objectives.push_back(trial.objectives[0] / 1'000.0);
    trial.standard_errors.push_back(0.2);
    trial.configuration.set("precision", number == 4 ? hostile : std::string("fp32"));
    trial.failure = number == 2 ? hostile : "";
    trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
    trial.spent_s = 60.0;
    trial.spent_usd = 0.5;
    add_row(input, trial, 5 - number);
  }
  input.leaders.best = 4;
  input.counts = {{TrialStatus::completed, 4}};
  StudyReport report;
  report.words = {"demo", input.objectives, {"precision", "batch_size"}};
  report.board = make_leaderboard(std::move(input));
  report.baseline = 1;
  Recommendation& recommendation = report.recommendation.emplace();
  recommendation.incumbent_trial = 4;
  recommendation.configuration = report.board.rows[0].trial.configuration;
  recommendation.claim = Claim::faster;
  recommendation.speed_up = {2.13, 2.05, 2.21, 3, 2.04};
  recommendation.baseline_objectives = {148'320.0, 49.93};
  recommendation.incumbent_objectives = {69'480.0, 23.39};
  recommendation.payback_share = 0.012;
  recommendation.notes = {Note{hostile}};
  report.command = TrialCommand{{"train", hostile}, {{"NOTE", hostile}}, "/tmp"};
  report.sessions = {{0.0, {{"cpu", hostile}, {"kernel", "6.1"}}},
                     {60.0, {{"cpu", hostile}, {"kernel", "6.2"}}}};
  report.decisions = {{60.0, "guard", 1, "", Json{{"metric", hostile}, {"max", 2.5}}},
                      {120.0, "recommend", 4, hostile, Json{{"ratio", nullptr}}}};
  TrialTrace trace;
  for (int i = 1; i <= 20; ++i)
    trace.progress.points.push_back({5.0 + 0.2 * i, 64.0 * i, 1.0 * i});
  trace.progress.phases = {{hostile, 6.0, 6.5}};
  trace.decisions = {{.at_s = 6.0,
                      .steps = 5.0,
                      .stop = false,
                      .values = {20'000.0, 20.0},
                      .half_widths = {400.0, 0.4},
                      .reason = ""},
                     {.at_s = 7.0,
                      .steps = 10.0,
                      .stop = true,
                      .values = {20'500.0, 20.5},
                      .half_widths = {200.0, std::numeric_limits<double>::quiet_NaN()},
                      .reason = hostile}};
  report.traces.emplace(4, trace);
  return report;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(HtmlReport, SaysTheResultInWordsFirst) {
  const std::string page = html_report(some_report());
  const std::size_t headline = page.find("<p class=\"headline\">2.13 times as fast</p>");
  ASSERT_NE(headline, std::string::npos);
  EXPECT_LT(headline, page.find("<table"));
  EXPECT_NE(page.find("95 % interval 2.05-2.21, 3 launches each"), std::string::npos);
  EXPECT_NE(page.find("41.2 h \u2192 19.3 h"), std::string::npos);
  EXPECT_NE(page.find("$49.93 \u2192 $23.39"), std::string::npos);
  EXPECT_NE(page.find("paid back after 1.2 % of the planned run"), std::string::npos);
}

TEST(HtmlReport, WithoutAWinnerItSaysSo) {
  StudyReport report = some_report();
  report.recommendation->claim = Claim::nothing_faster;
  EXPECT_NE(
      html_report(report).find("Keep today&#39;s settings: no other configuration was faster"),
      std::string::npos);
  report.recommendation.reset();
  EXPECT_NE(html_report(report).find("No configuration works within all limits"),
            std::string::npos);
  report.board.study.status = StudyStatus::running;
  EXPECT_NE(html_report(report).find("no recommendation yet"), std::string::npos);
}

TEST(HtmlReport, TheHeadlineIsTheWholeVerdict) {
  StudyReport report = some_report();
  report.words.objectives[0] = {Objective{"accuracy (top 5)", Direction::maximize}, true};
  std::string page = html_report(report);
  EXPECT_NE(page.find("<p class=\"headline\">2.13 times as good in accuracy (top 5)</p>"),
            std::string::npos);
  EXPECT_NE(page.find("<p class=\"evidence\">95 % interval 2.05-2.21, 3 launches each</p>"),
            std::string::npos);
  report.recommendation->claim = Claim::feasible;
  page = html_report(report);
  EXPECT_NE(page.find("<p class=\"headline\">Respects all limits, which today&#39;s settings do "
                      "not; 2.13 times as good in accuracy (top 5)</p>"),
            std::string::npos);
  report.recommendation->claim = Claim::unconfirmed;
  page = html_report(report);
  EXPECT_NE(page.find("in the search, not confirmed by fresh launches</p>"), std::string::npos)
      << "the claim is shown with its condition";
}

TEST(HtmlReport, NotesDriftAndBatchSizesOnce) {
  StudyReport report = some_report();
  report.recommendation->notes.clear();
  report.board.notes = {{"ranks are corrected", NoteSubject::drift},
                        {"trials differ in size", NoteSubject::batch_size},
                        {"a note on the table"}};
  const auto shown = [&](const char* text) { return count_of(html_report(report), text); };
  for (const char* text : {"ranks are corrected", "trials differ in size", "a note on the table"})
    EXPECT_EQ(shown(text), 1U) << text;
  report.recommendation->notes = {{"batch 128 in place of 32", NoteSubject::batch_size},
                                  {"the machine became slower", NoteSubject::drift},
                                  {"another note"}};
  for (const char* text : {"batch 128 in place of 32", "the machine became slower", "another note",
                           "a note on the table"})
    EXPECT_EQ(shown(text), 1U) << text;
  for (const char* text : {"ranks are corrected", "trials differ in size"})
    EXPECT_EQ(shown(text), 0U) << text;
}

TEST(HtmlReport, AHookedProgramIsStartedWithItsKnobs) {
  StudyReport report = some_report();
  report.words.study = "demo --db '/a b/history.db'";
  EXPECT_NE(html_report(report).find("<code>steptune best demo --db &#39;/a b/history.db&#39; "
                                     "--format args</code>"),
            std::string::npos);
  report.words.hooked = true;
  const std::string page = html_report(report);
  EXPECT_EQ(page.find("--format args"), std::string::npos)
      << "this format would leave settings out";
  for (const char* command : {"<code>steptune exec demo --db &#39;/a b/history.db&#39;</code>",
                              "<code>steptune best demo --db &#39;/a b/history.db&#39; "
                              "--format python</code>"})
    EXPECT_NE(page.find(command), std::string::npos) << command;
}

TEST(HtmlReport, TheFrontIsCalledByItsObjectives) {
  StudyReport report = some_report();
  EXPECT_NE(html_report(report).find("<h3>Time against cost</h3>"), std::string::npos);
  report.board.objectives[1] = {Objective{"tokens<b>", Direction::maximize}, true};
  const std::string page = html_report(report);
  EXPECT_NE(page.find("<h3>Time against tokens&lt;b&gt;</h3>"), std::string::npos);
  EXPECT_EQ(page.find("Time against cost"), std::string::npos);
}

TEST(HtmlReport, IsReadableWithoutJavaScript) {
  const std::string page = html_report(some_report());
  for (const int number : {1, 2, 3, 4})
    EXPECT_EQ(count_of(page, fmt::format("<tr data-trial=\"{}\"", number)), 1U);
  EXPECT_NE(page.find("<th scope=\"row\">batch_size</th><td>32</td><td>128</td>"),
            std::string::npos);
  const std::string total = page.substr(page.find("<tr class=\"total\">"), 200);
  EXPECT_NE(total.find("<td class=\"number\">4</td>"), std::string::npos) << total;
  EXPECT_NE(total.find("<td class=\"number\">$2.00</td>"), std::string::npos) << total;
  EXPECT_NE(page.find("<tr class=\"changed\"><th scope=\"row\">kernel</th>"), std::string::npos);
  EXPECT_NE(page.find("export NOTE=bf16"), std::string::npos);
}

TEST(HtmlReport, ShowsDecisionsWithTheirNumbers) {
  const std::string page = html_report(some_report());
  EXPECT_NE(
      page.find("<td>guard</td><td class=\"number\">1</td><td></td>"
                "<td><small>metric=bf16 max=2.5</small></td><td>1970-01-01T00:01:00Z</td></tr>"),
      std::string::npos)
      << page.substr(page.find("id=\"study-decisions\""), 600);
  EXPECT_NE(page.find("<td>recommend</td><td class=\"number\">4</td><td>bf16</td>"
                      "<td><small>ratio=-</small></td>"),
            std::string::npos);
  StudyReport report = some_report();
  report.decisions.clear();
  EXPECT_NE(html_report(report).find("No decision is recorded."), std::string::npos);
}

TEST(HtmlReport, NumericDecisionsAreShownInWords) {
  StudyReport report = some_report();
  const Json judged{
      {"verdict", "faster"}, {"pairs", 2}, {"ratio", 2.29}, {"low", 2.12}, {"high", 2.46}};
  report.decisions = {{0.0, "drift", 21, "", Json{{"significant", false}, {"log_ratio", 0.0}}},
                      {0.0, "drift", 41, "", Json{{"significant", true}, {"log_ratio", 0.2}}},
                      {0.0, "finalist", 13, "workers=2", Json{{"value", 59916.3}}},
                      {0.0, "judge", 47, "workers=2", judged},
                      {0.0, "judge", 48, "workers=3", Json{{"verdict", "failed"}}}};
  const std::string page = html_report(report);
  for (const char* expected :
       {"<td>the machine is as fast as when the baseline ran</td>",
        "<td>the machine takes 1.22 times as long as when the baseline ran</td>",
        "<td>runs again, in turn with the baseline<br>workers=2</td>",
        "<td>after 2 pairs of fresh runs 2.29 times as fast as the baseline (2.12 to 2.46): "
        "faster<br>workers=2</td>",
        "<td>workers=3</td><td><small>verdict=failed</small></td>"}) {
    EXPECT_NE(page.find(expected), std::string::npos)
        << expected << page.substr(page.find("id=\"study-decisions\""), 2000);
  }
}

TEST(HtmlReport, ShowsTheFirstAndLatestOfManyDecisions) {
  StudyReport report = some_report();
  report.decisions.clear();
  for (int i = 1; i <= 5'000; ++i)
    report.decisions.push_back({0.0, "payback", i, "", Json{{"in_a_row", i}}});
  const std::string page = html_report(report);
  const std::size_t at = page.find("id=\"study-decisions\"");
  const std::string table = page.substr(at, page.find("</table>", at) - at);
  EXPECT_EQ(count_of(table, "<td>payback</td>"), 400U);
  EXPECT_NE(table.find("4600 more: <code>steptune show demo --decisions</code>"),
            std::string::npos);
  EXPECT_NE(table.find(">in_a_row=1<"), std::string::npos);
  EXPECT_NE(table.find(">in_a_row=5000<"), std::string::npos);
  EXPECT_LT(table.size(), 100'000U);
}

TEST(HtmlReport, ATraceHasTheDecisionsAboutItsTrial) {
  StudyReport report = some_report();
  report.board.objectives[1].objective.direction = Direction::maximize;
  const Json decisions = chart_data(report)["traces"]["4"]["decisions"];
  EXPECT_EQ(decisions["count"], 2);
  ASSERT_EQ(decisions["latest"].size(), 2U);
  EXPECT_EQ(decisions["latest"][0],
            (Json{{"at", 6}, {"steps", 5}, {"values", {20'000, -20}}, {"widths", {400, 0.4}}}))
      << "maximised objectives are searched with the opposite sign";
  EXPECT_EQ(decisions["latest"][1]["stop"], true);
  EXPECT_EQ(decisions["latest"][1]["reason"], "bf16");
  EXPECT_TRUE(decisions["latest"][1]["widths"][1].is_null());
  report.traces.at(4).decisions.resize(5'000, {});
  const Json of_many = chart_data(report)["traces"]["4"]["decisions"];
  EXPECT_EQ(of_many["count"], 5'000);
  EXPECT_EQ(of_many["latest"].size(), 1'000U);
  report.traces.at(4).decisions.clear();
  EXPECT_FALSE(chart_data(report)["traces"]["4"].contains("decisions"));
}

TEST(HtmlReport, ALibraryKnownToOneRunIsNoChange) {
  StudyReport report = some_report();
  report.sessions[0].machine["torch"] = "2.5.1";
  EXPECT_NE(
      html_report(report).find("<tr><th scope=\"row\">torch</th><td>2.5.1</td><td>-</td></tr>"),
      std::string::npos);
  report.sessions[1].machine["torch"] = "2.6.0";
  EXPECT_NE(html_report(report).find("<tr class=\"changed\"><th scope=\"row\">torch</th>"),
            std::string::npos);
}

TEST(HtmlReport, WithoutAPriceTheBillCountsMachineHours) {
  StudyReport report = some_report();
  const std::string bill = "<th scope=\"col\" class=\"number\">billed</th>";
  EXPECT_NE(html_report(report).find(bill + "<th scope=\"col\" class=\"number\">cost</th>"),
            std::string::npos);
  report.board.machine_hours = MachineHours{{{1, 0.5}, {2, 0.5}, {3, 0.5}, {4, 2.0}}, 0.25};
  for (LeaderboardRow& row : report.board.rows) {
    row.trial.spent_usd = 0.0;
    row.machine_hours = report.board.machine_hours->by_trial[row.trial.number];
  }
  report.unused = {{"a", 0.0, 900.0, 0.0}};
  const std::string page = html_report(report);
  EXPECT_NE(page.find(bill + "<th scope=\"col\" class=\"number\">machine-hours</th>"),
            std::string::npos);
  EXPECT_NE(page.find("<th scope=\"row\">idle machines</th><td class=\"number\"></td>"
                      "<td class=\"number\">15 min</td><td class=\"number\">0.25</td>"),
            std::string::npos);
  EXPECT_NE(page.find("<td class=\"number\">19 min</td><td class=\"number\">3.75</td>"),
            std::string::npos)
      << "the total";
  EXPECT_NE(page.find(", 3.75 machine-hours</p>"), std::string::npos) << "what the tuning took";
}

TEST(HtmlReport, TheBillIsWhatTheTuningCost) {
  StudyReport report = some_report();
  report.board.study.overhead_usd = 0.25;
  report.tuning_usd = 2.75;
  std::string page = html_report(report);
  EXPECT_NE(page.find(", $2.75</p>"), std::string::npos) << "what the tuning took";
  EXPECT_NE(page.find("<th scope=\"row\">the tuner&#39;s machine between trials</th>"
                      "<td class=\"number\"></td><td class=\"number\"></td>"
                      "<td class=\"number\">$0.50</td>"),
            std::string::npos);
  const auto total = [&] { return page.substr(page.find("<tr class=\"total\">"), 200); };
  EXPECT_NE(total().find("$2.75"), std::string::npos) << total();
  report.tuning_usd = 2.25 + 1e-12;
  page = html_report(report);
  EXPECT_EQ(page.find("between trials"), std::string::npos) << "no cost arose between trials";
  EXPECT_NE(total().find("$2.25"), std::string::npos) << total();
}

TEST(HtmlReport, AClockThatWasSetBackMakesNoBillShorter) {
  StudyReport report = some_report();
  report.unused = {{"a", 0.0, 60.0, 0.0}, {"b", 1'000'000.0, 900'000.0, 0.0}};
  EXPECT_NE(html_report(report).find("<td class=\"number\"></td><td class=\"number\">1 min</td>"),
            std::string::npos);
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = html_report(some_report());
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  const std::string visible = page.substr(0, page.find("<script"));
  for (const char* part :
       {"<link", "<iframe", "<img", "<object", "<embed", "<base", " src=", " href=", "url("})
    EXPECT_EQ(visible.find(part), std::string::npos) << part;
  EXPECT_NE(page.find("version:\"3."), std::string::npos) << "D3 is in the page";
}

TEST(HtmlReport, TextsOfTheStudyAreEscaped) {
  const std::string page = html_report(some_report(k_hostile));
  const std::string usual = html_report(some_report());
  for (const char* tag : {"<script", "</script", "<img", "<!--", "<tr", "<td", "<section"})
    EXPECT_EQ(count_of(page, tag), count_of(usual, tag)) << tag;
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.substr(0, page.find("<script")).find("onclick='x'"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);

  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["trials"][0]["parameters"][0], k_hostile) << "reads back unchanged";
}

TEST(HtmlText, RepairsWhatIsNoText) {
  EXPECT_EQ(html_escaped("a\xff\x01\tb"), "a\xEF\xBF\xBD\tb");
  EXPECT_EQ(script_json(Json{{"a", "<\xff>&"}}), "{\"a\":\"\\u003c\xEF\xBF\xBD\\u003e\\u0026\"}");
}

TEST(ChartData, HasEveryTrialAndTheDifferencesOfTraces) {
  const Json data = chart_data(some_report());
  ASSERT_EQ(data["trials"].size(), 4U);
  EXPECT_EQ(data["trials"][0]["n"], 4);
  EXPECT_EQ(data["trials"][0]["values"][0], 20'000);
  EXPECT_EQ(data["trials"][0]["widths"][0], 392);
  EXPECT_EQ(data["recommended"], 4);
  const Json& trace = data["traces"]["4"];
  ASSERT_EQ(trace["seconds"].size(), 20U);
  EXPECT_EQ(trace["seconds"][0], 5.2);
  EXPECT_EQ(trace["seconds"][1], 0.2);
  EXPECT_EQ(trace["samples"][1], 64);
  EXPECT_EQ(trace["samples_per_step"], 64);
  EXPECT_EQ(data["traces"].size(), 1U);
}

}  // namespace
}  // namespace steptune
