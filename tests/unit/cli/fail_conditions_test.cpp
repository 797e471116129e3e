// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/fail_conditions.hpp"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JudgedCommands with(CommandVerdict verdict, const SpeedUp& speed_up) {
  JudgedCommands judged;
  judged.first.name = "A";
  JudgedCommand command;
  command.name = "B";
  command.verdict = verdict;
  command.speed_up = speed_up;
  judged.others.push_back(std::move(command));
  return judged;
}

std::vector<FailResult> results(const std::vector<std::string>& texts,
                                const JudgedCommands& judged) {
  std::vector<FailCondition> conditions;
  for (const std::string& text : texts)
    conditions.push_back(parse_fail_condition(text).value());
  return check_conditions(conditions, judged);
}

std::optional<bool> holds(const std::string& text, CommandVerdict verdict,
                          const SpeedUp& speed_up) {
  return results({text}, with(verdict, speed_up)).front().holds;
}

TEST(FailConditions, ASlowdownMustBeCertain) {
  constexpr auto k_slower = CommandVerdict::slower;
  EXPECT_EQ(holds("slower", k_slower, {0.98, 0.97, 0.99, 8, 0.97}), true);
  EXPECT_EQ(holds("slower:3%", k_slower, {0.90, 0.88, 0.92, 8, 0.88}), true);
  EXPECT_EQ(holds("slower:3%", k_slower, {0.98, 0.975, 0.99, 8, 0.975}), false);
  EXPECT_EQ(holds("slower:3%", k_slower, {0.96, 0.94, 0.99, 8, 0.94}), std::nullopt);
  EXPECT_EQ(holds("slower", CommandVerdict::tied, {0.99, 0.985, 0.995, 8, 0.985}), false);
  EXPECT_EQ(holds("slower", CommandVerdict::faster, {1.2, 1.1, 1.3, 8, 1.1}), false);
  EXPECT_EQ(holds("slower", CommandVerdict::undecided, {0.99, 0.9, 1.1, 2, 0.9}), std::nullopt);
  EXPECT_EQ(holds("slower:20%", CommandVerdict::undecided, {0.99, 0.9, 1.1, 2, 0.9}), false);
}

TEST(FailConditions, UndecidedIsAboutTheOtherConditions) {
  const JudgedCommands open = with(CommandVerdict::undecided, {0.99, 0.9, 1.1, 2, 0.9});
  EXPECT_EQ(results({"undecided"}, open).front().holds, true);
  EXPECT_EQ(results({"undecided", "slower:20%"}, open).front().holds, false);
  EXPECT_EQ(results({"slower:3%", "undecided"}, open).back().holds, true);
}

TEST(FailConditions, ACommandWithAWorseLossMayBeATie) {
  JudgedCommands judged = with(CommandVerdict::worse, {0.995, 0.985, 1.005, 8, 0.985});
  EXPECT_EQ(results({"slower", "undecided"}, judged).back().holds, true) << "without a margin";
  judged.margin = 0.02;
  EXPECT_EQ(results({"slower", "undecided"}, judged).front().holds, false);
  EXPECT_EQ(results({"slower", "undecided"}, judged).back().holds, false);
}

TEST(FailConditions, AWorseLossMakesWorseTrue) {
  JudgedCommands judged = with(CommandVerdict::worse, {1.2, 1.1, 1.3, 8, 1.1});
  EXPECT_EQ(results({"worse"}, judged).front().holds, std::nullopt) << "no loss was compared";
  judged.others.front().loss = LaunchMeans{.launches = 3, .is_violated = true};
  const auto found = results({"worse", "slower"}, judged);
  EXPECT_EQ(found.front().holds, true);
  EXPECT_THAT(found.front().commands, ElementsAre("B"));
  EXPECT_THAT(found.back().commands, IsEmpty());
  EXPECT_EQ(fail_text(found), "fail-if worse: yes (B)\nfail-if slower: no\n");
  EXPECT_EQ(json_of(found)[0].dump(), R"({"condition":"worse","holds":true,"commands":["B"]})");
}

TEST(FailConditions, OtherTextsAreRefused) {
  for (const char* text : {"", "slow", "slower:", "slower:0%", "slower:x", "worse:3%", "faster",
                           "undecided:1%", "slower:2000%"}) {
    EXPECT_FALSE(parse_fail_condition(text)) << text;
  }
  EXPECT_DOUBLE_EQ(parse_fail_condition("slower:3%")->by, 0.03);
  EXPECT_DOUBLE_EQ(parse_fail_condition("slower:0.05")->by, 0.05);
}

}  // namespace
}  // namespace steptune
