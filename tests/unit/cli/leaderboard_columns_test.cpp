// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard_columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

Leaderboard wide_board() {
  LeaderboardInput input;
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
    input.ranked.push_back(trial);
  }
  input.baseline = input.ranked.front();
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

TEST(LeaderboardColumns, GiveWayByImportanceAt80Columns) {
  const auto lines = lines_of(leaderboard_text(wide_board(), {false, 80}));
  EXPECT_EQ(lines[0], "  trial    time     +-   gain    cost  configuration");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_LE(display_width(lines[i]), 80U) << lines[i];
  EXPECT_NE(lines[1].find("..."), std::string::npos) << "cut in the middle";
}

TEST(LeaderboardColumns, AllFitInto160) {
  const auto lines = lines_of(leaderboard_text(wide_board(), {false, 160}));
  EXPECT_EQ(lines[0],
            "  trial    time     +-   gain    cost     +-   gain  samples/s  status               "
            "precision  batch_size  a_parameter_with_a_long_name");
}

TEST(LeaderboardColumns, ThoseAskedForAreShownAndNoOthers) {
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

TEST(LeaderboardColumns, AWrongNameIsAnErrorWithTheNearest) {
  const Leaderboard board = wide_board();
  const auto columns = leaderboard_columns(board, {"batch_size"});
  const auto wrong = column_named(columns, "bach_size");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_NE(wrong.error().text().find("did you mean \"batch_size\"?"), std::string::npos);
}

TEST(LeaderboardColumns, AParameterMayHaveTheNameOfAColumn) {
  const Leaderboard board = wide_board();
  const auto columns = leaderboard_columns(board, {"status"});
  EXPECT_TRUE(column_named(columns, "parameter.status"));
  EXPECT_FALSE(column_named(columns, "status")->is_parameter);
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
