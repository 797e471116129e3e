// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/stored_study.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include <gtest/gtest.h>

#include "tests/unit/history/fixture.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/study_list.hpp"
#include "tuner/report/trial_command.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

constexpr const char* k_document = R"({
  "name": "s", "command": ["train", "{batch_size}"],
  "parameters": {"batch_size": {"type": "int", "low": 1, "high": 10000}},
  "baseline": {"batch_size": 1},
  "planned_run": {"samples": 1000000, "batch_size": "batch_size"},
  "objectives": ["time", "cost"],
  "runner": {"type": "local", "price_per_hour": 3.6}
})";

class StoredStudyTest : public HistoryFixture {
 protected:
  StoredStudyTest() : history_(must(History::open_for_writing(path(), clock_))) {
    const auto spec = study_from_json(must(parse_json(k_document, "study")), "/studies/study.json",
                                      {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}});
    record_ = must(history_.create_or_continue_study("s", "fingerprint", must(spec).document, 0));
  }

  void add(std::int64_t number, TrialPurpose purpose, TrialStatus status, double time,
           std::int64_t batch_size, double cost = 1.0) {
    TrialRecord trial;
    trial.number = number;
    trial.purpose = purpose;
    trial.status = status;
    trial.configuration.set("batch_size", batch_size);
    if (status == TrialStatus::completed || status == TrialStatus::stopped_early) {
      trial.objectives = {time, cost};
      trial.standard_errors = {0.01 * time, 0.01 * cost};
    }
    must(history_.record_ended(record_.id, trial));
  }
  StoredStudy stored() {
    auto record = must(history_.study("s"));
    auto objectives = objective_views(record.document);
    return {must(History::open_for_reading(path())), std::move(record), std::move(objectives)};
  }

  History history_;
  StudyRecord record_;
};

/// A study of four hundred trials, whose first baseline failed and whose best trial was refuted.
class LongStudy : public StoredStudyTest {
 protected:
  LongStudy() {
    add(1, TrialPurpose::baseline, TrialStatus::failed, 0.0, 1);
    add(2, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
    for (std::int64_t number = 3; number <= 400; ++number) {
      const auto place = static_cast<double>((number * 167) % 401);
      const auto status = number % 5 == 0   ? TrialStatus::stopped_early
                          : number % 7 == 0 ? TrialStatus::failed
                                            : TrialStatus::completed;
      add(number, TrialPurpose::search, status, 100.0 + 0.05 * place, 10'000 - number,
          50.0 + static_cast<double>(number % 13));
    }
    const auto all = must(history_.trials(record_.id));
    const Standing standing(ranking_rules(must(stored_spec(must(history_.study("s"))))), all);
    const auto refuted =
        std::get<std::int64_t>(*standing.candidates().front()->configuration.find("batch_size"));
    add(401, TrialPurpose::confirm_incumbent, TrialStatus::failed, 0.0, refuted);
  }
};

TEST_F(LongStudy, TheFewReadTrialsGiveTheStandingOfAllTrials) {
  const StoredStudy study = stored();
  const Standing all(ranking_rules(must(stored_spec(study.record))),
                     must(history_.trials(record_.id)));
  const Standing read = must(read_standing(study));
  EXPECT_LT(read.trials().size(), 110U) << "few trials are read";
  ASSERT_NE(read.incumbent(), nullptr);
  EXPECT_EQ(read.incumbent()->number, all.incumbent()->number);
  EXPECT_EQ(read.tied_with(*read.incumbent()), all.tied_with(*all.incumbent()));
  EXPECT_GT(read.tied_with(*read.incumbent()).size(), 50U);
  EXPECT_EQ(read.baseline()->number, 2);
  EXPECT_EQ(read.refuted(), all.refuted());
}

TEST_F(LongStudy, TheLeaderboardHasTheMarksOfAllTrials) {
  const StoredStudy study = stored();
  for (const std::size_t sorted_by : {0U, 1U}) {
    const Standing all(ranking_rules(must(stored_spec(study.record))),
                       must(history_.trials(record_.id)), sorted_by);
    const auto front = all.front(*all.incumbent());
    const Leaderboard board = must(read_leaderboard(study, {60, false, sorted_by}));
    ASSERT_GE(board.rows.size(), 60U);
    for (const LeaderboardRow& row : board.rows) {
      if (!row.rank) continue;
      EXPECT_EQ(row.best, row.trial.number == all.incumbent()->number) << row.trial.number;
      EXPECT_EQ(row.pareto, std::ranges::find(front, row.trial.number) != front.end())
          << row.trial.number;
    }
  }
}

TEST_F(StoredStudyTest, TheBestIsShownBelowTiedTrials) {
  add(1, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
  add(2, TrialPurpose::search, TrialStatus::completed, 100.0, 64);
  add(3, TrialPurpose::search, TrialStatus::completed, 100.5, 8);
  for (const bool ended : {false, true}) {
    LeaderboardQuery query;
    query.limit = 1;
    const Leaderboard board = must(read_leaderboard(stored(), query));
    ASSERT_EQ(board.rows.size(), 3U) << ended;
    EXPECT_EQ(board.rows[0].trial.number, 2);
    EXPECT_TRUE(board.rows[0].tied);
    EXPECT_EQ(board.rows[1].trial.number, 3) << "a smaller batch";
    EXPECT_TRUE(board.rows[1].best);
    EXPECT_FALSE(board.rows[1].rank);
    EXPECT_EQ(board.rows[2].trial.number, 1);
    Recommendation recommendation;
    recommendation.incumbent_trial = 3;
    recommendation.tied = {2};
    record_.status = StudyStatus::finished;
    record_.recommendation = to_json(recommendation);
    must(history_.record_study(record_));
  }
}

TEST_F(StoredStudyTest, DriftIsCorrectedForAllTrials) {
  // At the end, the machine takes three times as long; the best configuration is tried then.
  const auto slowness = [](std::int64_t number) {
    return 1.0 + 0.005 * static_cast<double>(number);
  };
  add(1, TrialPurpose::baseline, TrialStatus::completed, 200.0 * slowness(1), 1);
  for (std::int64_t number = 2; number <= 400; ++number) {
    const bool sentinel = number % 20 == 0;
    const double time = sentinel ? 200.0 : number == 399 ? 90.0 : 100.0;
    add(number, sentinel ? TrialPurpose::sentinel : TrialPurpose::search, TrialStatus::completed,
        time * slowness(number), sentinel ? 1 : number);
  }
  const StoredStudy study = stored();
  const Standing read = must(read_standing(study));
  ASSERT_TRUE(read.drift().is_significant());
  EXPECT_EQ(read.incumbent()->number, 399);
  const Leaderboard board = must(read_leaderboard(study, {}));
  EXPECT_TRUE(board.rows[0].best);
  ASSERT_EQ(board.notes.size(), 1U);
  EXPECT_NE(board.notes[0].text.find("slower"), std::string::npos) << board.notes[0].text;
}

TEST_F(StoredStudyTest, GainsAreOverABaselineMeasuredInItsSecondTrial) {
  add(1, TrialPurpose::baseline, TrialStatus::failed, 0.0, 1);
  add(2, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
  add(3, TrialPurpose::search, TrialStatus::completed, 100.0, 8);
  const Leaderboard board = must(read_leaderboard(stored(), {}));
  ASSERT_EQ(board.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(board.rows[0].gains[0], 2.0);
  EXPECT_DOUBLE_EQ(board.rows[1].gains[0], 1.0);
}

TEST_F(StoredStudyTest, OneObjectiveHasNoParetoFront) {
  add(1, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
  LeaderboardQuery query;
  query.pareto = true;
  EXPECT_EQ(must(read_leaderboard(stored(), query)).rows.size(), 1U);
  StoredStudy study = stored();
  study.objectives.resize(1);
  const auto board = read_leaderboard(study, query);
  ASSERT_FALSE(board);
  EXPECT_EQ(board.error().kind, ErrorKind::usage);
  EXPECT_EQ(board.error().where, "--pareto");
}

TEST_F(StoredStudyTest, AConditionNeedsTheNamedValue) {
  add(1, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
  add(2, TrialPurpose::search, TrialStatus::failed, 0.0, 4);
  add(3, TrialPurpose::search, TrialStatus::completed, 100.0, 8);
  const auto selected = [&](const std::string& where) {
    LeaderboardQuery query;
    query.all = true;
    query.where = where;
    std::vector<std::int64_t> numbers;
    for (const LeaderboardRow& row : must(read_leaderboard(stored(), query)).rows)
      numbers.push_back(row.trial.number);
    return numbers;
  };
  EXPECT_EQ(selected("time < 150"), std::vector<std::int64_t>{3}) << "a failed trial is not fast";
  EXPECT_EQ(selected("not (time > 150)"), std::vector<std::int64_t>{3});
  EXPECT_EQ(selected("status == 'failed'"), std::vector<std::int64_t>{2});
  EXPECT_EQ(selected("batch_size < 5 and time < 300"), std::vector<std::int64_t>{1});
  EXPECT_EQ(selected("status == 'failed' or time < 150").size(), 2U)
      << "a failed trial is selected whatever its time";
}

TEST(TrialCommand, NamesTheDatabaseForAHookedProgram) {
  const auto spec =
      must(study_from_json(must(parse_json(R"({
        "name": "s", "command": ["python3", "train.py"],
        "parameters": {"num_workers": {"type": "int", "low": 0, "high": 4}},
        "baseline": {"num_workers": 0},
        "hooks": {"python": {"num_workers": "{num_workers}"}},
        "runner": {"type": "local"}
      })",
                                           "study")),
                           "/studies/study.json", {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
  StudyRecord record;
  record.name = "s";
  record.document = spec.document;
  TrialRecord trial;
  trial.number = 7;
  trial.configuration.set("num_workers", std::int64_t{2});
  const auto words = [&](const std::filesystem::path& database) {
    return must(trial_command(record, trial, database)).argv;
  };
  const std::vector<std::string> usual{"steptune", "exec", "s", "--trial", "7"};
  EXPECT_EQ(words("/studies/.steptune/history.db"), usual) << "found in the command's folder";
  std::vector<std::string> elsewhere = usual;
  elsewhere.insert(elsewhere.end(), {"--db", "/srv/a b.db"});
  EXPECT_EQ(words("/srv/x/../a b.db"), elsewhere);
  elsewhere.back() = (std::filesystem::current_path() / "here.db").string();
  EXPECT_EQ(words("here.db"), elsewhere) << "the command runs in another folder";
}

TEST_F(StoredStudyTest, WhileAStudyContinuesItsFormerRecommendationIsOld) {
  add(1, TrialPurpose::baseline, TrialStatus::completed, 200.0, 1);
  add(2, TrialPurpose::search, TrialStatus::completed, 100.0, 8);
  Recommendation former;
  former.incumbent_trial = 1;
  StudyRecord record = must(history_.study("s"));
  record.recommendation = to_json(former);
  record.status = StudyStatus::finished;
  must(history_.record_study(record));
  EXPECT_TRUE(must(read_leaderboard(stored(), {})).rows[1].best) << "as in the final result";
  record.status = StudyStatus::running;
  must(history_.record_study(record));
  EXPECT_TRUE(must(read_leaderboard(stored(), {})).rows[0].best);
}

TEST(ListedStudy, AResultMayHaveNoRatio) {
  ListedStudy listed;
  EXPECT_EQ(listed.result_text(), "none yet");
  Recommendation& recommendation = listed.recommendation.emplace();
  recommendation.claim = Claim::unconfirmed;
  recommendation.speed_up.ratio = 1.5;
  EXPECT_EQ(listed.result_text(), "1.50x, not confirmed");
  // The ratio is NaN for a negative reward.
  recommendation.speed_up.ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(listed.result_text(), "not confirmed");
}

}  // namespace
}  // namespace steptune
