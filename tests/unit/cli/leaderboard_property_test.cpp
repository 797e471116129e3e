// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/history/fixture.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard_source.hpp"

namespace steptune {
namespace {

constexpr const char* k_two_objectives = R"({
  "name": "s", "command": ["train", "{batch_size}", "{precision}"],
  "parameters": {"batch_size": {"type": "int", "low": 1, "high": 10000},
                 "precision": {"type": "categorical", "choices": ["fp32", "bf16"]}},
  "baseline": {"batch_size": 1, "precision": "fp32"},
  "objectives": ["time", "cost"],
  "runner": {"type": "local", "price_per_hour": 3.6}
})";

/// A stored study of random trials in every state.
class AnyLeaderboard : public HistoryFixture, public ::testing::WithParamInterface<int> {
 protected:
  AnyLeaderboard() : history_(must(History::open_for_writing(path(), clock_))) {
    const auto spec =
        must(study_from_json(must(parse_json(k_two_objectives, "study")), "/studies/study.json",
                             {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
    record_ = must(history_.create_or_continue_study("s", "f", spec.document, 0));
    Rng rng(static_cast<std::uint64_t>(GetParam()), "leaderboard");
    const std::int64_t count = 2 + static_cast<std::int64_t>(rng.below(40));
    for (std::int64_t number = 1; number <= count; ++number) {
      TrialRecord trial;
      trial.number = number;
      trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
      const TrialStatus states[] = {TrialStatus::completed, TrialStatus::completed,
                                    TrialStatus::failed, TrialStatus::out_of_memory,
                                    TrialStatus::infeasible};
      trial.status = number == 1 ? TrialStatus::completed : states[rng.below(5)];
      trial.origin = number == 1 ? "baseline" : "sobol";
      trial.configuration.set("batch_size", number);
      trial.configuration.set("precision", std::string(rng.below(2) == 0 ? "fp32" : "bf16"));
      if (trial.status == TrialStatus::completed) {
        trial.objectives = {10.0 + 90.0 * rng.uniform(), 1.0 + rng.uniform()};
        trial.standard_errors = {0.1, 0.001};
      }
      trial.spent_s = 5.0;
      must(history_.record_ended(record_.id, trial));
      trials_.push_back(trial);
    }
  }

  [[nodiscard]] Leaderboard board(const LeaderboardQuery& query) const {
    auto record = must(history_.study("s"));
    auto objectives = objective_views(record.document);
    const StoredStudy study{must(History::open_for_reading(path())), std::move(record),
                            std::move(objectives)};
    return must(read_leaderboard(study, query));
  }
  /// Returns the numbers of the completed trials, best first.
  [[nodiscard]] std::vector<std::int64_t> best_first(std::size_t objective) const {
    std::vector<TrialRecord> completed;
    for (const TrialRecord& trial : trials_)
      if (!trial.objectives.empty()) completed.push_back(trial);
    std::ranges::stable_sort(completed, {},
                             [&](const TrialRecord& trial) { return trial.objectives[objective]; });
    std::vector<std::int64_t> numbers;
    for (const TrialRecord& trial : completed)
      numbers.push_back(trial.number);
    return numbers;
  }
  static std::vector<std::int64_t> ranked(const Leaderboard& board) {
    std::vector<std::int64_t> numbers;
    for (const LeaderboardRow& row : board.rows)
      if (row.rank) numbers.push_back(row.trial.number);
    return numbers;
  }

  History history_;
  StudyRecord record_;
  std::vector<TrialRecord> trials_;
};

TEST_P(AnyLeaderboard, RanksAreThePlacesInOrderOfTheObjective) {
  for (const std::size_t objective : {0U, 1U}) {
    const auto expected = best_first(objective);
    for (const std::size_t limit :
         {std::size_t{1}, std::size_t{5}, expected.size(), std::size_t{1000}}) {
      LeaderboardQuery query;
      query.limit = limit;
      query.sorted_by = objective;
      const Leaderboard shown = board(query);
      const auto numbers = ranked(shown);
      const std::size_t count = std::min(limit, expected.size());
      ASSERT_GE(numbers.size(), count);
      EXPECT_TRUE(std::equal(
          expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count), numbers.begin()))
          << "limit " << limit;
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(shown.rows[i].rank, static_cast<std::int64_t>(i) + 1);
      EXPECT_TRUE(std::ranges::any_of(shown.rows, [](const LeaderboardRow& row) {
        return row.trial.number == 1;
      })) << "the baseline is always there";
    }
  }
}

TEST_P(AnyLeaderboard, ShowsTheValuesOfTheHistory) {
  LeaderboardQuery query;
  query.all = true;
  query.limit = 1000;
  const Leaderboard shown = board(query);
  ASSERT_EQ(shown.rows.size(), trials_.size()) << "each trial has a row";
  const TrialRecord& baseline = trials_.front();
  std::int64_t counted = 0;
  for (const auto& [status, count] : shown.counts) {
    EXPECT_EQ(count, std::ranges::count(trials_, status, &TrialRecord::status));
    counted += count;
  }
  EXPECT_EQ(counted, static_cast<std::int64_t>(trials_.size()));
  const Json json = leaderboard_json(shown);
  for (std::size_t i = 0; i < shown.rows.size(); ++i) {
    const LeaderboardRow& row = shown.rows[i];
    const TrialRecord& stored = trials_[static_cast<std::size_t>(row.trial.number) - 1];
    EXPECT_EQ(row.trial.objectives, stored.objectives);
    EXPECT_EQ(row.trial.status, stored.status);
    EXPECT_EQ(row.trial.configuration.text(), stored.configuration.text());
    const Json& trial = json["rows"][i]["trial"];
    EXPECT_EQ(trial["number"], stored.number);
    EXPECT_EQ(trial["status"], to_text(stored.status));
    for (std::size_t o = 0; o < stored.objectives.size(); ++o) {
      EXPECT_EQ(trial["objectives"][o]["value"], stored.objectives[o]);
      EXPECT_DOUBLE_EQ(row.gains[o], baseline.objectives[o] / stored.objectives[o]);
    }
  }
}

TEST_P(AnyLeaderboard, TheFrontHasTheBestAndCheaperTrials) {
  LeaderboardQuery query;
  query.pareto = true;
  query.limit = 1000;
  const Leaderboard shown = board(query);
  const auto best = std::ranges::find_if(shown.rows, &LeaderboardRow::best);
  ASSERT_NE(best, shown.rows.end());
  const auto cost = [](const LeaderboardRow& row) { return row.trial.objectives[1]; };
  for (const LeaderboardRow& row : shown.rows) {
    if (row.best) continue;
    // Launches differ by 1.5 %.
    EXPECT_LT(cost(row), 0.97 * cost(*best));
    for (const LeaderboardRow& other : shown.rows) {
      EXPECT_FALSE(other.trial.objectives[0] < row.trial.objectives[0] && cost(other) < cost(row))
          << "trial " << other.trial.number << " dominates trial " << row.trial.number;
    }
  }
  const bool has_cheaper = std::ranges::any_of(trials_, [&](const TrialRecord& trial) {
    return !trial.objectives.empty() && trial.objectives[1] < 0.9 * cost(*best);
  });
  const bool is_alone = shown.rows.size() == 1;
  EXPECT_FALSE(has_cheaper && is_alone);
  EXPECT_EQ(
      std::ranges::any_of(shown.notes,
                          [](const Note& note) {
                            return note.text.starts_with("there is no trade-off: no trial is ");
                          }),
      is_alone);
}

TEST_P(AnyLeaderboard, ConditionsKeepMatchingRows) {
  LeaderboardQuery query;
  query.limit = 1000;
  query.where = "precision == 'bf16' and (time < 50 or cost > 1.5) and batch_size > 3";
  std::vector<std::int64_t> expected;
  for (const std::int64_t number : best_first(0)) {
    const TrialRecord& trial = trials_[static_cast<std::size_t>(number) - 1];
    const bool holds = *trial.configuration.find("precision") == Value(std::string("bf16")) &&
                       (trial.objectives[0] < 50.0 || trial.objectives[1] > 1.5) && number > 3;
    if (holds) expected.push_back(number);
  }
  EXPECT_EQ(ranked(board(query)), expected);
  query.limit = 2;
  const auto cut = ranked(board(query));
  EXPECT_EQ(cut.size(), std::min<std::size_t>(2, expected.size()));
  EXPECT_TRUE(std::equal(cut.begin(), cut.end(), expected.begin()));
}

TEST_P(AnyLeaderboard, TextFitsEveryTerminalThatHasRoomForATable) {
  LeaderboardQuery query;
  query.all = true;
  const Leaderboard shown = board(query);
  for (std::size_t width = 84; width <= 170; width += 7) {
    std::istringstream lines(leaderboard_text(shown, {false, width, {}}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), width) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(OfRandomStudies, AnyLeaderboard, ::testing::Range(0, 12));

}  // namespace
}  // namespace steptune
