// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard_columns.hpp"

#include <cmath>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

Leaderboard wide_board() {
  Leaderboard input;
  input.study = make_study();
  input.objectives = {planned_time(), planned_cost()};
  for (int number = 1; number <= 3; ++number) {
    TrialRecord trial = make_trial(number, 36'000.0 + 1'000.0 * number, 100.0, 64 * number);
    trial.objectives.push_back(trial.objectives[0] / 1'800.0);
    trial.standard_errors.push_back(0.05);
    trial.configuration.set("a_parameter_with_a_long_name", std::int64_t{number});
    trial.configuration.set("precision", std::string(number == 2 ? "=cmd()" : "bf16,\"x\""));
    trial.measurement->metrics["loss"] = 3.0 - number;
    if (number == 1) trial.purpose = TrialPurpose::baseline;
    if (number == 1) input.baseline = trial;
    add_row(input, trial, number);
  }
  input.counts = {{TrialStatus::completed, 3}};
  return make_leaderboard(std::move(input));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(LeaderboardColumns, TheLeastImportantAreDroppedAt80Columns) {
  const auto lines = lines_of(leaderboard_text(wide_board(), {false, 80}));
  EXPECT_EQ(lines[0], "  trial    time     +-   gain    cost  status     configuration");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_LE(display_width(lines[i]), 80U) << lines[i];
  for (const std::size_t number : {1U, 2U, 3U}) {
    for (const std::size_t value : {number, 64 * number}) {
      EXPECT_NE(lines[number].find("=" + std::to_string(value)), std::string::npos)
          << "names are cut, not values: " << lines[number];
    }
  }
}

TEST(LeaderboardColumns, StatusIsShownIfItDistinguishesRows) {
  Leaderboard input;
  input.study = make_study();
  input.objectives = {planned_time(), planned_cost()};
  const auto add = [&](int number, TrialPurpose purpose, TrialStatus status,
                       std::optional<std::int64_t> rank = {}) {
    TrialRecord trial = make_trial(number, 36'000.0 + number, 100.0, 64 * number);
    trial.objectives.push_back(20.0);
    trial.standard_errors.push_back(0.05);
    trial.configuration.set("a_parameter_with_a_long_name", std::int64_t{number});
    trial.purpose = purpose;
    trial.status = status;
    add_row(input, trial, rank);
  };
  add(1, TrialPurpose::baseline, TrialStatus::completed, 1);
  add(2, TrialPurpose::search, TrialStatus::stopped_early, 2);
  add(3, TrialPurpose::search, TrialStatus::out_of_memory);
  add(4, TrialPurpose::confirm_incumbent, TrialStatus::completed);
  add(5, TrialPurpose::confirm_baseline, TrialStatus::failed);
  add(6, TrialPurpose::sentinel, TrialStatus::completed);
  const auto lines = lines_of(leaderboard_text(make_leaderboard(std::move(input)), {false, 80}));
  const std::vector<std::string> expected = {"baseline",        "stopped early",
                                             "out of memory",   "confirm incumbent",
                                             "confirm, failed", "sentinel"};
  EXPECT_NE(lines[0].find("status"), std::string::npos) << lines[0];
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NE(lines[i + 1].find("  " + expected[i] + " "), std::string::npos) << lines[i + 1];
    EXPECT_LE(display_width(lines[i + 1]), 80U) << lines[i + 1];
  }
}

TEST(LeaderboardColumns, AllFitInto160) {
  const auto lines = lines_of(leaderboard_text(wide_board(), {false, 160}));
  EXPECT_EQ(lines[0],
            "  trial    time     +-   gain    cost     +-   gain  samples/s  status               "
            "precision  batch_size  a_parameter_with_a_long_name");
}

TEST(LeaderboardColumns, OnlyRequestedColumnsAreShown) {
  const auto lines =
      lines_of(leaderboard_text(wide_board(), {false, 80, {"trial", "metric.loss", "batch_size"}}));
  EXPECT_EQ(lines[0], "  trial  loss  batch_size");
  EXPECT_EQ(lines[2], "      2     1         128");
}

TEST(LeaderboardColumns, SortNumbersAndTextsMissingOnesLast) {
  Leaderboard board = wide_board();
  board.rows[0].trial.configuration.erase("batch_size");
  const auto columns = leaderboard_columns(board, {"precision", "batch_size"});
  const auto order = [&](const std::string& name) {
    sort_rows(board.rows, *column_named(columns, name));
    std::vector<std::int64_t> numbers;
    for (const LeaderboardRow& row : board.rows)
      numbers.push_back(row.trial.number);
    return numbers;
  };
  EXPECT_THAT(order("batch_size"), testing::ElementsAre(2, 3, 1));
  EXPECT_THAT(order("metric.loss"), testing::ElementsAre(3, 2, 1));
  EXPECT_THAT(order("precision"), testing::ElementsAre(2, 3, 1));
  EXPECT_THAT(order("time_gain"), testing::ElementsAre(1, 2, 3)) << "largest first";
}

TEST(LeaderboardColumns, NanAndMissingValuesSortLast) {
  Leaderboard board = wide_board();
  board.rows[0].trial.measurement->metrics["loss"] = std::nan("");
  board.rows[1].trial.measurement->metrics.erase("loss");
  const auto column = *column_named(leaderboard_columns(board, {}), "metric.loss");
  sort_rows(board.rows, column);
  EXPECT_EQ(board.rows[0].trial.number, 3);
  EXPECT_EQ(board.rows[1].trial.number, 1) << "rows without a value keep their order";
  EXPECT_EQ(board.rows[2].trial.number, 2);
  board.rows[0].trial.measurement.reset();
  EXPECT_FALSE(column.value(board.rows[0]));
}

TEST(LeaderboardColumns, SamplesPerSecondSortLargestFirst) {
  Leaderboard board = wide_board();
  board.rows[0].trial.measurement->seconds_per_sample = 0.0;
  board.rows[1].trial.measurement->seconds_per_sample = 0.01;
  board.rows[2].trial.measurement->seconds_per_sample = 0.001;
  const auto column = *column_named(leaderboard_columns(board, {}), "samples_per_s");
  EXPECT_FALSE(column.value(board.rows[0])) << "no speed";
  sort_rows(board.rows, column);
  EXPECT_EQ(board.rows[0].trial.number, 3);
  EXPECT_EQ(board.rows[2].trial.number, 1);
}

TEST(LeaderboardColumns, NumbersSortBeforeTexts) {
  Leaderboard board = wide_board();
  board.rows[0].trial.configuration.set("x", std::string("b"));
  board.rows[1].trial.configuration.set("x", std::string("a"));
  board.rows[2].trial.configuration.set("x", std::int64_t{9});
  sort_rows(board.rows, *column_named(leaderboard_columns(board, {"x"}), "x"));
  EXPECT_EQ(board.rows[0].trial.number, 3);
  EXPECT_EQ(board.rows[1].trial.number, 2);
  EXPECT_EQ(board.rows[2].trial.number, 1);
}

TEST(LeaderboardColumns, MeasurementColumnsShowTimesMemoryAndCost) {
  Leaderboard board = wide_board();
  TrialRecord& trial = board.rows[0].trial;
  trial.measurement->startup_s = 3.0;
  trial.measurement->warmup_s = 4.0;
  trial.measurement->window_s = 5.0;
  trial.peak_memory_bytes = 6e9;
  trial.spent_s = 7.0;
  trial.spent_usd = 0.5;
  const auto columns = leaderboard_columns(board, {});
  const auto value = [&](const std::string& name) {
    return to_number(column_named(columns, name)->value(board.rows[0]).value());
  };
  EXPECT_EQ(value("startup_s"), 3.0);
  EXPECT_EQ(value("warmup_s"), 4.0);
  EXPECT_EQ(value("window_s"), 5.0);
  EXPECT_EQ(value("peak_memory_bytes"), 6e9);
  EXPECT_EQ(value("spent_s"), 7.0);
  EXPECT_EQ(value("spent_usd"), 0.5);
  EXPECT_FALSE(column_named(columns, "gpu_memory_bytes")->value(board.rows[0]));
  EXPECT_FALSE(column_named(columns, "peak_memory_bytes")->value(board.rows[1]));
  EXPECT_EQ(column_named(columns, "trial")->text(board.rows[0]), "1");
}

TEST(LeaderboardColumns, AnErrorSuggestsTheNearestName) {
  const Leaderboard board = wide_board();
  const auto columns = leaderboard_columns(board, {"batch_size"});
  const auto wrong = column_named(columns, "bach_size");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_NE(wrong.error().text().find("did you mean \"batch_size\"?"), std::string::npos);
}

TEST(LeaderboardColumns, AreFoundByTheirHeadings) {
  const Leaderboard board = wide_board();
  const auto columns = leaderboard_columns(board, {"batch_size"});
  const auto headed = column_named(columns, "samples/s");
  ASSERT_TRUE(headed) << headed.error().text();
  EXPECT_EQ(headed->name, "samples_per_s");
}

TEST(LeaderboardColumns, AParameterMayHaveTheNameOfAColumn) {
  const Leaderboard board = wide_board();
  const auto columns = leaderboard_columns(board, {"status"});
  EXPECT_TRUE(column_named(columns, "parameter.status"));
  EXPECT_FALSE(column_named(columns, "status")->is_parameter);
}

TEST(LeaderboardColumns, AnObjectiveMayHaveTheNameOfAColumn) {
  Leaderboard board = wide_board();
  board.objectives[1].objective.metric = "samples_per_s";
  board.rows[0].trial.measurement->seconds_per_sample = 0.01;
  const auto columns = leaderboard_columns(board, {});
  const auto value = [&](const std::string& name) {
    return to_number(column_named(columns, name)->value(board.rows[0]).value());
  };
  EXPECT_EQ(value("samples_per_s"), board.rows[0].trial.objectives[1]);
  EXPECT_EQ(value("trial.samples_per_s"), 100.0);
  std::set<std::string> names;
  for (const LeaderboardColumn& column : columns)
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
}

TEST(LeaderboardCsv, HasTextsOfAnyLength) {
  Leaderboard board = wide_board();
  const std::string failure = std::string(10'000, 'f') + "\x1b[31m end";
  const std::string origin = std::string(100, 'o');
  board.rows[0].trial.failure = failure;
  board.rows[0].trial.origin = origin;
  const auto lines = lines_of(leaderboard_csv(board, {"origin", "failure"}));
  EXPECT_EQ(lines[1], origin + "," + std::string(10'000, 'f') + " end\r");
  EXPECT_LT(leaderboard_text(board, {false, 0, {"origin", "failure"}}).size(), 1000U);
}

TEST(LeaderboardText, NotesFitTheTerminal) {
  Leaderboard board = wide_board();
  board.notes = {
      {"trials differ in batch size; " + std::string(60, 'w') + " and more words than fit"}};
  for (const std::string& line : lines_of(leaderboard_text(board, {false, 80})))
    EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_NE(leaderboard_text(board, {}).find("note: " + board.notes[0].text + "\n"),
            std::string::npos)
      << "a file gets the whole note";
}

TEST(LeaderboardCsv, HasRawValuesAndNoFormulas) {
  const auto lines =
      lines_of(leaderboard_csv(wide_board(), {"trial", "time", "time_interval", "precision"}));
  EXPECT_EQ(lines[0], "trial,time,time_interval,precision\r");
  EXPECT_EQ(lines[1], "1,37000,195.9963984540054,\"bf16,\"\"x\"\"\"\r");
  EXPECT_EQ(lines[2], "2,38000,195.9963984540054,'=cmd()\r");
  EXPECT_EQ(lines_of(leaderboard_csv(wide_board(), {})).size(), 4U);
}

}  // namespace
}  // namespace steptune
