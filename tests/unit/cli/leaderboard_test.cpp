// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

Leaderboard three_trials() {
  Leaderboard input;
  input.study = make_study();
  input.objectives = {planned_time()};
  add_row(input, make_trial(4, 36'000, 360, 256), 1);
  add_row(input, make_trial(3, 36'500, 360, 128), 2);
  add_row(input, make_trial(2, 50'000, 360, 128), 3);
  input.baseline = make_trial(1, 72'000, 720, 64);
  input.baseline->purpose = TrialPurpose::baseline;
  input.counts = {{TrialStatus::completed, 4}, {TrialStatus::out_of_memory, 1}};
  return input;
}

/// Returns the leaderboard, with marks from the standing of the input's own trials.
Leaderboard board_of(Leaderboard input) {
  RankingRules rules;
  for (const ObjectiveView& view : input.objectives)
    rules.objectives.push_back(view.objective);
  std::vector<TrialRecord> trials;
  for (const LeaderboardRow& row : input.rows)
    trials.push_back(row.trial);
  if (input.baseline) trials.push_back(*input.baseline);
  input.leaders = leaders_of(Standing(std::move(rules), std::move(trials), input.sorted_by));
  return make_leaderboard(std::move(input));
}

TEST(Leaderboard, MarksTheBestAndTiedTrials) {
  const Leaderboard board = board_of(three_trials());
  ASSERT_EQ(board.rows.size(), 4U);
  EXPECT_TRUE(board.rows[0].best);
  EXPECT_FALSE(board.rows[0].tied);
  EXPECT_TRUE(board.rows[1].tied) << "500 s apart, 95 % half-widths of 706 s each";
  EXPECT_FALSE(board.rows[2].tied);
  EXPECT_FALSE(board.rows[3].rank) << "the baseline, which is below the shown ranks";
}

TEST(Leaderboard, TheRecommendedTrialIsMarkedAsBest) {
  Leaderboard input = three_trials();
  Recommendation recommendation;
  recommendation.incumbent_trial = 3;
  recommendation.tied = {4};
  input.leaders = leaders_of(recommendation);
  const Leaderboard board = make_leaderboard(std::move(input));
  EXPECT_TRUE(board.rows[0].tied);
  EXPECT_TRUE(board.rows[1].best);
}

TEST(Leaderboard, ARecommendedBaselineMayRankLow) {
  Leaderboard input = three_trials();
  input.baseline->number = 7;
  Recommendation recommendation;
  recommendation.incumbent_trial = 7;
  input.leaders = leaders_of(recommendation);
  const Leaderboard board = make_leaderboard(std::move(input));
  EXPECT_FALSE(board.rows[3].rank);
  EXPECT_TRUE(board.rows[3].best);
}

TEST(Leaderboard, ATrialThatWasStoppedEarlyIsNotTheBest) {
  Leaderboard input = three_trials();
  input.rows[0].trial.status = TrialStatus::stopped_early;
  const Leaderboard board = board_of(std::move(input));
  EXPECT_FALSE(board.rows[0].best);
  EXPECT_TRUE(board.rows[1].best);
}

TEST(Leaderboard, GainsAreOverTheBaseline) {
  const Leaderboard board = board_of(three_trials());
  EXPECT_DOUBLE_EQ(board.rows[0].gains[0], 2.0);
  EXPECT_DOUBLE_EQ(board.rows[3].gains[0], 1.0);
}

TEST(Leaderboard, LargerMaximisedMetricsHaveGainsAboveOne) {
  Leaderboard input = three_trials();
  input.objectives = {{Objective{"accuracy", Direction::maximize}, false}};
  input.rows[0].trial.objectives = {144'000.0};
  const Leaderboard board = board_of(std::move(input));
  EXPECT_DOUBLE_EQ(board.rows[0].gains[0], 2.0);
  EXPECT_LT(board.rows[1].gains[0], 1.0) << "36 500 is less than the baseline's 72 000";
}

TEST(Leaderboard, GainsOfNegativeMetricsHaveNoMeaning) {
  Leaderboard input = three_trials();
  input.rows[0].trial.objectives = {-1.0};
  EXPECT_TRUE(std::isnan(board_of(std::move(input)).rows[0].gains[0]));
}

TEST(Leaderboard, ShowsOnlyParametersThatVary) {
  const Leaderboard board = board_of(three_trials());
  EXPECT_EQ(board.parameters, std::vector<std::string>{"batch_size"});
  EXPECT_TRUE(board.constant.contains("precision"));
}

TEST(Leaderboard, AParameterThatIsInactiveSomewhereVaries) {
  Leaderboard input = three_trials();
  input.rows[1].trial.configuration.erase("precision");
  const Leaderboard board = board_of(std::move(input));
  EXPECT_EQ(board.parameters, (std::vector<std::string>{"precision", "batch_size"}));
}

TEST(Leaderboard, MarksTrialsThatNoOtherBeatsInBothObjectives) {
  Leaderboard input = three_trials();
  input.objectives = {planned_time(), planned_cost()};
  input.rows[0].trial.objectives = {36'000, 30.0};
  input.rows[1].trial.objectives = {36'500, 31.0};
  input.rows[2].trial.objectives = {50'000, 20.0};
  input.baseline->objectives = {72'000, 40.0};
  for (LeaderboardRow& row : input.rows)
    row.trial.standard_errors = {360, 0.1};
  input.baseline->standard_errors = {720, 0.1};
  const Leaderboard board = board_of(std::move(input));
  EXPECT_TRUE(board.rows[0].pareto);
  EXPECT_FALSE(board.rows[1].pareto);
  EXPECT_TRUE(board.rows[2].pareto);
}

TEST(Leaderboard, ShowsTheDirectionOfDrift) {
  Leaderboard input = three_trials();
  input.rows.erase(input.rows.begin());
  const auto note = [&](double log_ratio) {
    Leaderboard drifting = input;
    drifting.drift_log_ratio = log_ratio;
    const auto notes = board_of(std::move(drifting)).notes;
    return notes.empty() ? "" : notes.front().text;
  };
  EXPECT_EQ(note(std::log(1.07)),
            "the machine became 7 % slower during the search: ranks are corrected for it, values "
            "are as measured");
  EXPECT_EQ(note(std::log(0.9)).substr(0, 30), "the machine became 10 % faster");
  EXPECT_EQ(note(0.0), "");
}

TEST(Leaderboard, BatchSizesMatterForSpeedsOnly) {
  Leaderboard input = three_trials();
  input.objectives = {{Objective{"accuracy", Direction::maximize}, false}};
  EXPECT_TRUE(board_of(input).notes.empty());
  input.objectives = {planned_cost()};
  EXPECT_EQ(board_of(input).notes.size(), 1U);
  input.rows[0].trial.measurement->window_steps = 0.0;
  EXPECT_TRUE(board_of(input).notes.empty()) << "its batch size is not known";
  input = three_trials();
  input.rows[0].trial.measurement->window_samples = 128.9 * 100.0;
  EXPECT_TRUE(board_of(input).notes.empty()) << "a difference of 0.7 % is within the tolerance";
}

TEST(Leaderboard, CountsTrialsByTheirStatus) {
  EXPECT_EQ(counts_text({}), "0 trials");
  EXPECT_EQ(counts_text({{TrialStatus::completed, 1}}), "1 trial: 1 completed");
  EXPECT_EQ(
      counts_text(
          {{TrialStatus::completed, 2}, {TrialStatus::failed, 0}, {TrialStatus::out_of_memory, 1}}),
      "3 trials: 2 completed, 1 out of memory");
}

TEST(Leaderboard, WithoutABaselineNothingHasAGain) {
  Leaderboard input = three_trials();
  input.baseline.reset();
  const Leaderboard board = board_of(input);
  EXPECT_EQ(board.rows.size(), 3U);
  EXPECT_TRUE(std::isnan(board.rows[0].gains[0]));
  input.baseline = make_trial(1, 72'000, 720, 64);
  input.baseline->objectives.clear();
  EXPECT_TRUE(std::isnan(board_of(input).rows[0].gains[0])) << "it was not measured";
}

TEST(Leaderboard, SaysThatSpeedsWereComparedAtDifferentBatchSizes) {
  ASSERT_EQ(board_of(three_trials()).notes.size(), 1U);
  EXPECT_NE(board_of(three_trials()).notes[0].text.find("128 to 256 samples per step"),
            std::string::npos);
  Leaderboard same = three_trials();
  same.rows.erase(same.rows.begin());
  EXPECT_TRUE(board_of(same).notes.empty());
  Measurement& shorter = *same.rows[0].trial.measurement;
  const double full = shorter.window_samples / shorter.window_steps;
  shorter.window_steps = 16.0;
  shorter.window_samples = 15.5 * full;
  EXPECT_TRUE(board_of(same).notes.empty()) << "one step may be the smaller last batch of a pass";
  shorter.window_samples = 14.5 * full;
  EXPECT_EQ(board_of(same).notes.size(), 1U);
}

TEST(Leaderboard, MarksDisturbedTrials) {
  Leaderboard input = three_trials();
  input.rows[0].trial.disturbance = Disturbance{0.3, 0.0};
  input.rows[1].trial.disturbance = Disturbance{0.01, 0.01};
  const Leaderboard board = board_of(std::move(input));
  EXPECT_TRUE(board.rows[0].disturbed);
  EXPECT_FALSE(board.rows[1].disturbed);
}

TEST(LeaderboardText, IsATableWithLegendNotesAndCounts) {
  Leaderboard input = three_trials();
  input.rows[0].trial.disturbance = Disturbance{0.3, 0.0};
  EXPECT_EQ(leaderboard_text(board_of(std::move(input)), {}),
            "    trial    time     +-   gain  samples/s  status               batch_size\n"
            "*!      4  10.0 h  2.0 %  2.00x        500  completed                   256\n"
            "=       3  10.1 h  1.9 %  1.97x        500  completed                   128\n"
            "        2  13.9 h  1.4 %  1.44x        500  completed                   128\n"
            "        1  20.0 h  2.0 %  1.00x        500  baseline, completed          64\n"
            "* best   = tied with the best (no measurable difference)   ! disturbed by other load\n"
            "same in all: precision=bf16\n"
            "note: trials differ in batch size (128 to 256 samples per step); a larger batch may "
            "need more samples to reach the same loss: add a guard on the loss, or check it before "
            "the long run\n"
            "5 trials: 4 completed, 1 out of memory\n");
}

TEST(LeaderboardText, AGuardedStudyGetsNoAdviceOnGuards) {
  Leaderboard input = three_trials();
  input.study.document["guards"] = {{{"metric", "loss"}, {"max", 3.0}}};
  const std::string text = leaderboard_text(board_of(std::move(input)), {});
  EXPECT_NE(text.find("the same loss, and the guard sees a trial's samples only: check it before "
                      "the long run\n"),
            std::string::npos)
      << text;
}

TEST(LeaderboardText, ItsLegendFitsTheTerminal) {
  Leaderboard input = three_trials();
  input.rows[0].trial.disturbance = Disturbance{0.3, 0.0};
  const std::string text = leaderboard_text(board_of(std::move(input)), {false, 80});
  EXPECT_NE(text.find("\n* best   = tied with the best (no measurable difference)\n"
                      "! disturbed by other load\n"),
            std::string::npos)
      << text;
}

TEST(LeaderboardText, FitsANarrowTerminalByCuttingTheConfiguration) {
  Leaderboard input = three_trials();
  for (LeaderboardRow& row : input.rows) {
    row.trial.configuration.set("path", std::string(60, static_cast<char>('a' + row.trial.number)));
  }
  const std::string text = leaderboard_text(board_of(std::move(input)), {false, 100});
  const std::string table = text.substr(0, text.find("* best"));
  EXPECT_NE(table.find("configuration"), std::string::npos);
  EXPECT_NE(table.find("..."), std::string::npos);
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 100U);
    begin = end + 1;
  }
}

TEST(LeaderboardText, ColoursWholeLinesOnly) {
  const std::string plain = leaderboard_text(board_of(three_trials()), {false, 0});
  std::string colored = leaderboard_text(board_of(three_trials()), {true, 0});
  EXPECT_NE(colored.find("\x1b[1;32m* "), std::string::npos);
  for (const char* code : {"\x1b[1;32m", "\x1b[32m", "\x1b[2m", "\x1b[0m"}) {
    for (std::size_t at; (at = colored.find(code)) != std::string::npos;) {
      colored.erase(at, std::string(code).size());
    }
  }
  EXPECT_EQ(colored, plain);
}

TEST(LeaderboardText, AStudyWithoutTrialsSaysSo) {
  Leaderboard input;
  input.study = make_study();
  input.objectives = {planned_time()};
  EXPECT_EQ(leaderboard_text(board_of(std::move(input)), {}), "0 trials\n");
}

TEST(LeaderboardJson, CarriesRawValuesInSiUnits) {
  const Json json = leaderboard_json(board_of(three_trials()));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["study"]["name"], "demo");
  EXPECT_EQ(json["objectives"][0]["unit"], "s");
  EXPECT_EQ(json["rows"].size(), 4U);
  EXPECT_EQ(json["rows"][0]["trial"]["objectives"][0]["value"], 36'000.0);
  EXPECT_NEAR(json["rows"][0]["trial"]["objectives"][0]["half_width_95"].get<double>(), 705.6, 0.1);
  EXPECT_EQ(json["rows"][0]["trial"]["configuration"]["batch_size"], 256);
  EXPECT_TRUE(json["rows"][0]["best"].get<bool>());
  EXPECT_TRUE(json["rows"][3]["rank"].is_null());
  EXPECT_EQ(json["counts"]["out_of_memory"], 1);
}

TEST(LeaderboardJson, IsValidJsonWhateverATrialPrinted) {
  Leaderboard input = three_trials();
  input.rows[0].trial.failure = std::string("\xff\xfe\x00\x1b[2J", 7);
  input.rows[0].trial.objectives = {std::nan("")};
  const std::string text = dump_json(leaderboard_json(board_of(std::move(input))));
  const auto parsed = parse_json(text, "leaderboard");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_TRUE((*parsed)["rows"][0]["trial"]["objectives"][0]["value"].is_null());
}

}  // namespace
}  // namespace steptune
