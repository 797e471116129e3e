// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/machine_hours.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/fixture.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MachineHoursTest : public HistoryFixture {
 protected:
  MachineHoursTest() : history_(must(History::open_for_writing(path(), clock_))) {}

  void begin(const std::string& runner) {
    Json document = Json::parse(R"({
      "name": "s", "command": ["train", "{nodes}"],
      "parameters": {"nodes": {"type": "int", "low": 1, "high": 4}},
      "baseline": {"nodes": 1},
      "planned_run": {"samples": 1000000},
      "objectives": ["time"]
    })");
    document["runner"] = Json::parse(runner);
    const auto spec = must(study_from_json(document, "/studies/study.json",
                                           {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
    record_ = must(history_.create_or_continue_study("s", "fingerprint", spec.document, 0));
  }
  void add(std::int64_t number, std::int64_t nodes, double spent_s, const std::string& allocation,
           const StudyRecord& totals = {}) {
    TrialRecord trial;
    trial.number = number;
    trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
    trial.status = TrialStatus::completed;
    trial.configuration.set("nodes", nodes);
    trial.objectives = {1000.0 / static_cast<double>(nodes)};
    trial.standard_errors = {1.0};
    trial.spent_s = spent_s;
    trial.placement = {{"allocation", allocation}, {"hosts", "n1 n2"}};
    must(history_.record_ended(record_.id, trial, &totals));
  }
  /// Adds half an hour on one node and a quarter of an hour on four nodes. The four nodes were kept
  /// unused for five minutes, and another allocation was unused for six.
  void run_two_trials() {
    add(1, 1, 1800.0, "one");
    StudyRecord totals;
    totals.unused = {{"four", 100.0, 400.0, 0.0}, {"other", 100.0, 460.0, 0.0}};
    add(2, 4, 900.0, "four", totals);
  }
  StoredStudy stored() {
    auto record = must(history_.study("s"));
    auto objectives = objective_views(record.document);
    return {must(History::open_for_reading(path())), std::move(record), std::move(objectives)};
  }

  History history_;
  StudyRecord record_;
};

TEST_F(MachineHoursTest, CountNodesOfTrialsAndKeptNodes) {
  begin(R"({"type": "slurm", "nodes": "nodes"})");
  run_two_trials();
  const auto hours = read_machine_hours(stored());
  ASSERT_TRUE(hours);
  EXPECT_DOUBLE_EQ(hours->by_trial.at(1), 0.5);
  EXPECT_DOUBLE_EQ(hours->by_trial.at(2), 1.0);
  EXPECT_NEAR(hours->unused, 4.0 * 300.0 / 3600.0 + 360.0 / 3600.0, 1e-9)
      << "counts one node if no trial recorded their number";
  EXPECT_NEAR(hours->total(), 1.5 + hours->unused, 1e-9);
  const StoredStudy study = stored();
  EXPECT_EQ(machine_hours_of(must(stored_spec(study.record)),
                             must(study.history.trial(study.record.id, 2))),
            1.0);
}

TEST_F(MachineHoursTest, AreAColumnAndATotalOfTheLeaderboard) {
  begin(R"({"type": "slurm", "nodes": "nodes"})");
  run_two_trials();
  LeaderboardQuery query;
  query.where = "machine_hours > 0.7";
  const Leaderboard selected = must(read_leaderboard(stored(), query));
  ASSERT_EQ(selected.rows.size(), 1U);
  const Json json = leaderboard_json(selected);
  EXPECT_EQ(json["rows"][0]["trial"]["number"], 2);
  EXPECT_EQ(json["rows"][0]["machine_hours"], 1.0);
  EXPECT_NEAR(json["machine_hours"].get<double>(), 1.9333, 1e-4) << "of the whole study";
  const Leaderboard board = must(read_leaderboard(stored(), {}));
  EXPECT_THAT(leaderboard_csv(board, {"trial", "machine_hours"}),
              HasSubstr("trial,machine_hours\r\n2,1"));
  EXPECT_THAT(leaderboard_text(board, {false, 0, {"trial", "machine_hours"}}),
              HasSubstr("trial  machine-hours\n"));
  EXPECT_THAT(leaderboard_text(board, {}), Not(HasSubstr("machine-hours")));
}

TEST_F(MachineHoursTest, AreInTheReportOfAStudyWithItsRecommendation) {
  begin(R"({"type": "slurm", "nodes": "nodes"})");
  run_two_trials();
  const StoredStudy study = stored();
  RecommendationContext words;
  words.objectives = study.objectives;
  const StudyReport report = must(read_study_report(study, words));
  ASSERT_EQ(report.board.rows.size(), 2U);
  EXPECT_EQ(report.baseline, 1);
  ASSERT_TRUE(report.analysis) << report.no_analysis;
  EXPECT_EQ(report.analysis->importance.best, 2);
  ASSERT_TRUE(report.words.machine_hours) << "the report adds them to the caller's words";
  EXPECT_NEAR(*report.words.machine_hours, 1.9333, 1e-4);
}

TEST_F(MachineHoursTest, AClockSetBackTakesNoHoursAway) {
  begin(R"({"type": "slurm", "nodes": "nodes"})");
  StudyRecord totals;
  totals.unused = {{"one", 100.0, 460.0, 0.0}, {"other", 9000.0, 100.0, 0.0}};
  add(1, 1, 1800.0, "one", totals);
  const auto hours = read_machine_hours(stored());
  ASSERT_TRUE(hours);
  EXPECT_NEAR(hours->unused, 0.1, 1e-9);
}

TEST_F(MachineHoursTest, TheTunersOwnMachineCostsMoneyAllTheTime) {
  begin(R"({"type": "local", "price_per_hour": 3.6})");
  StudyRecord totals;
  totals.elapsed_s = 100.0;
  add(1, 1, 30.0, "", totals);
  EXPECT_NEAR(must(read_study_report(stored(), {})).tuning_usd, 0.1, 1e-9)
      << "equals the cost in the recommendation";
}

TEST_F(MachineHoursTest, AreHiddenIfPricesAreKnownOrNothingIsRented) {
  for (const char* runner : {R"({"type": "slurm", "nodes": "nodes", "price_per_node_hour": 2})",
                             R"({"type": "local"})"}) {
    SCOPED_TRACE(runner);
    begin(runner);
    run_two_trials();
    EXPECT_FALSE(read_machine_hours(stored()));
    EXPECT_FALSE(leaderboard_json(must(read_leaderboard(stored(), {}))).contains("machine_hours"));
    must(history_.remove_study(record_.id));
  }
}

}  // namespace
}  // namespace steptune
