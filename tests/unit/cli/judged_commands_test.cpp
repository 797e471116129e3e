// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/judged_commands.hpp"

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

StudySpec study_of_three() {
  const Json document = parse_json(R"({
    "name": "judge",
    "command": ["{command}", {"when": "command == 'B'", "args": ["--fast"]}],
    "parameters": {"command": {"type": "categorical",
                               "choices": {"A": "./a", "B": "./b", "C": "./c"}}},
    "baseline": {"command": "A"},
    "search": {"searcher": "grid", "scheduler": "none", "worth": 0.02},
    "budget": {"time": "2m"}, "measure": {"confirm_all": true}, "runner": {"type": "local"}
  })",
                                   "study")
                            .value();
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

class JudgedCommandsTest : public ::testing::Test {
 protected:
  JudgedCommandsTest() {
    for (const char* name : {"A", "B", "C"}) {
      TrialRecord trial = completed(std::ssize(trials_) + 1, 1.0);
      trial.configuration = {};
      trial.configuration.set("command", std::string(name));
      trial.purpose = trials_.empty() ? TrialPurpose::baseline : TrialPurpose::search;
      trials_.push_back(std::move(trial));
    }
    recommendation_.finalists = {{2, Verdict::faster, {1.87, 1.5, 2.33, 2, 1.5}},
                                 {3, Verdict::slower, {0.62, 0.5, 0.77, 2, 0.5}}};
  }
  [[nodiscard]] JudgedCommands judged() const {
    return judged_commands(study_, trials_, recommendation_, 83.0);
  }

  StudySpec study_ = study_of_three();

  std::vector<TrialRecord> trials_;
  Recommendation recommendation_;
};

TEST_F(JudgedCommandsTest, EachCommandHasALine) {
  EXPECT_EQ(judged_text(judged()),
            "B is faster: 1.87 times as fast as A (95 % interval 1.50-2.33, 2 launches each); "
            "stopped: the interval excludes 1\n"
            "C is slower: 0.62 times as fast as A (95 % interval 0.50-0.77, 2 launches each); "
            "stopped: the interval excludes 1\n"
            "cost    1 min 23 s of 2 min\n"
            "keep    B: ./b --fast\n");
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::faster);
}

TEST_F(JudgedCommandsTest, ATieKeepsTheFirst) {
  recommendation_.finalists = {{2, Verdict::tied, {1.003, 0.992, 1.014, 8, 0.992}},
                               {3, Verdict::slower, {0.62, 0.5, 0.77, 2, 0.5}}};
  EXPECT_EQ(judged_text(judged()),
            "B is as fast as A, within 2 % (95 % interval 0.99-1.01, 8 launches each); stopped: "
            "the interval lies within 2 % of 1\n"
            "C is slower: 0.62 times as fast as A (95 % interval 0.50-0.77, 2 launches each); "
            "stopped: the interval excludes 1\n"
            "cost    1 min 23 s of 2 min\n"
            "keep    A: ./a\n");
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::tied);
  recommendation_.finalists[0] = {2, Verdict::tied, {1.01, 1.005, 1.015, 8, 1.005}};
  EXPECT_EQ(judged().others.front().why, "the interval lies within 2 % of 1") << "and excludes 1";
}

TEST_F(JudgedCommandsTest, AnUndecidedCommandNamesTheTimeThatWouldDecide) {
  TrialRecord run = trials_[1];
  run.number = 4;
  run.purpose = TrialPurpose::confirm_incumbent;
  run.spent_s = 5.0;
  trials_.push_back(run);
  recommendation_.finalists = {{2, Verdict::open, {1.1, 0.95, 1.27, 4, 0.95}},
                               {3, Verdict::hidden, {1.2, 1.1, 1.3, 4, 0.9}}};
  recommendation_.finalists.front().speed_up.more_pairs = 2.0;
  EXPECT_EQ(judged_text(judged()),
            "undecided: B looks 1.10 times as fast as A (95 % interval 0.95-1.27, 4 launches "
            "each); the time was too short; about 30.0 s more would decide\n"
            "undecided: C looks 1.20 times as fast as A (95 % interval 1.10-1.30, 4 launches "
            "each); a full buffer may hide the difference\n"
            "cost    1 min 23 s of 2 min\n"
            "keep    A: ./a\n");
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::undecided);
  // Each of the rounds has a run of A, B and C until C is settled.
  recommendation_.finalists[1] = {3, Verdict::slower, {0.62, 0.5, 0.77, 2, 0.5}};
  EXPECT_DOUBLE_EQ(judged().others[0].more_s.value(), 20.0);
}

TEST_F(JudgedCommandsTest, AWorseLossIsNamed) {
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 960.0;
  guard.max_ratio_to_baseline = 1.02;
  guard.over_launches = true;
  study_.guards = {guard};
  const std::size_t configurations = trials_.size();
  for (std::size_t i = 0; i < configurations; ++i) {
    trials_[i].measurement = steady(0.1);
    trials_[i].measurement->metrics["loss@960"] = i == 1 ? 2.5 : 2.0;
    trials_[i].measurement->metric_errors["loss@960"] = 0.01;
    trials_.push_back(trials_[i]);
  }
  recommendation_.finalists.front().verdict = Verdict::worse;
  EXPECT_EQ(judged_text(judged()),
            "B is worse: its loss after 960 samples is 2.5, 25.0 % above A's 2 (95 % interval 20.6 "
            "to 29.4 %, 2 launches each); 1.87 times as fast as A (95 % interval 1.50-2.33, 2 "
            "launches each); stopped: the interval excludes 1\n"
            "C is slower: 0.62 times as fast as A (95 % interval 0.50-0.77, 2 launches each); "
            "stopped: the interval excludes 1\n"
            "loss    after 960 samples: A 2, B 2.5 (+25.0 +-4.4 %), C 2 (+0.0 +-4.4 %)\n"
            "cost    1 min 23 s of 2 min\n"
            "keep    A: ./a\n");
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::worse);
  EXPECT_TRUE(json_of(judged())["commands"][1]["loss"]["worse"].get<bool>());
}

TEST_F(JudgedCommandsTest, AJudgementThatLacksTimeForACertainSlowdownSaysSo) {
  study_.measure.confirm_slowdown = 0.5;
  const std::string text = judged_text(judged());
  EXPECT_NE(text.find("2 launches each); stopped: the time was too short to know if it is 50 % "
                      "slower\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(judged().others.front().why, "the interval excludes 1") << "B is certainly not slower";
}

TEST_F(JudgedCommandsTest, FreshRunsOfTheFirstCommandThatFailEndTheComparison) {
  recommendation_.finalists[0] = {2, Verdict::open, {1.1, 0.95, 1.27, 2, 0.95}};
  recommendation_.finalists[0].speed_up.more_pairs = 2.0;
  TrialRecord run = trials_[0];
  run.purpose = TrialPurpose::confirm_baseline;
  run.status = TrialStatus::failed;
  run.failure = "exit code 3";
  run.spent_s = 5.0;
  trials_.push_back(run);
  EXPECT_EQ(judged().others.front().why, "the time was too short") << "one may be an accident";
  EXPECT_TRUE(judged().others.front().more_s);
  trials_.push_back(run);
  EXPECT_EQ(judged().others.front().why, "fresh runs of the first command failed: exit code 3");
  EXPECT_FALSE(judged().others.front().more_s);
  EXPECT_EQ(judged().others.back().verdict, CommandVerdict::slower) << "that was known before";
}

TEST_F(JudgedCommandsTest, AFailureIsNamed) {
  trials_[1].status = TrialStatus::failed;
  trials_[1].failure = "exit code 3: no such file";
  recommendation_.finalists.erase(recommendation_.finalists.begin());
  EXPECT_EQ(judged().others.front().verdict, CommandVerdict::failed);
  EXPECT_EQ(judged_text(judged()).substr(0, 36), "B failed: exit code 3: no such file\n");
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::slower);
}

TEST_F(JudgedCommandsTest, ASlowStartIsUndecided) {
  trials_[1].status = TrialStatus::infeasible;
  trials_[1].failure = "no step reported within 1 min 10 s";
  trials_[1].awaited_start_s = 70.0;
  recommendation_.finalists.erase(recommendation_.finalists.begin());
  EXPECT_EQ(judged().others.front().verdict, CommandVerdict::undecided);
  const std::string expected =
      "undecided: B was not compared; its start took more than 1 min 10 s, the whole remaining "
      "time\n";
  EXPECT_EQ(judged_text(judged()).substr(0, expected.size()), expected);
}

TEST_F(JudgedCommandsTest, ASlowStartOfTheFirstLeavesAllUndecided) {
  trials_.resize(1);
  trials_[0].status = TrialStatus::infeasible;
  trials_[0].awaited_start_s = 70.0;
  trials_[0].objectives.clear();
  recommendation_.finalists.clear();
  const std::string text = judged_text(judged());
  EXPECT_NE(
      text.find(
          "undecided: C was not compared; the first command reported no step within 1 min 10 s\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(verdict_of_all(judged()), CommandVerdict::undecided);
  const JudgedCommands without = judged_without_start({{"./a"}, {"./b", "--fast"}}, 0.02, 60, 120);
  EXPECT_EQ(judged_text(without),
            "undecided: B was not compared; the first command reported no step within 1 min\n"
            "cost    1 min of 2 min\nkeep    A: ./a\n");
}

TEST_F(JudgedCommandsTest, WithoutTheFirstCommandNothingIsCompared) {
  trials_.resize(1);
  trials_[0].status = TrialStatus::failed;
  trials_[0].failure = "exit code 1";
  trials_[0].objectives.clear();
  const JudgedCommands none = judged_commands(study_of_three(), trials_, std::nullopt, 3.0);
  EXPECT_EQ(judged_text(none), "A failed, so nothing was compared: exit code 1\n");
  EXPECT_EQ(verdict_of_all(none), CommandVerdict::failed);
  const Json json = json_of(none);
  EXPECT_TRUE(json["keep"].is_null());
  EXPECT_EQ(json["commands"][1]["why"], "the first command failed");
}

TEST_F(JudgedCommandsTest, AnInterruptedFirstCommandHasNotFailed) {
  trials_.resize(1);
  trials_[0].status = TrialStatus::interrupted;
  trials_[0].objectives.clear();
  const JudgedCommands none = judged_commands(study_of_three(), trials_, std::nullopt, 3.0);
  EXPECT_FALSE(none.first.verdict);
  EXPECT_EQ(verdict_of_all(none), CommandVerdict::undecided);
}

TEST_F(JudgedCommandsTest, JsonHasTheSameVerdicts) {
  const Json json = json_of(judged());
  EXPECT_EQ(json["verdict"], "faster");
  EXPECT_EQ(json["keep"], "B");
  EXPECT_TRUE(json["commands"][0]["verdict"].is_null());
  EXPECT_EQ(json["commands"][1]["command"], "./b --fast");
  EXPECT_EQ(json["commands"][1]["why"], "the interval excludes 1");
  EXPECT_TRUE(json["commands"][0]["why"].is_null());
  EXPECT_EQ(json["commands"][2]["verdict"], "slower");
  EXPECT_DOUBLE_EQ(json["commands"][2]["speed_up"]["high_95"].get<double>(), 0.77);
}

}  // namespace
}  // namespace steptune
