// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/campaign_ladder.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/campaign_error.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CampaignEdit edit(const std::string& challenger, CommandVerdict verdict, const SpeedUp& speed_up,
                  double error) {
  CampaignEdit edit;
  edit.study = "fast";
  edit.champion = {{"./a"}, ""};
  edit.challenger = {{challenger}, ""};
  edit.verdict = verdict;
  edit.speed_up = speed_up;
  edit.error = error;
  return edit;
}

CampaignLadder ladder_of_four() {
  CampaignLadder ladder;
  ladder.name = "fast";
  ladder.edits = {
      edit("./b", CommandVerdict::faster, {1.25, 1.18, 1.33, 3, 1.18}, 0.0073),
      edit("./c", CommandVerdict::failed, {}, 0.0),
      edit("./d", CommandVerdict::tied, {1.003, 0.992, 1.014, 8, 0.992}, 0.0104),
      edit("./e", CommandVerdict::faster, {1.1, 1.05, 1.15, 8, 1.05}, 0.005),
  };
  return ladder;
}

TEST(CampaignLadder, EachEditHasARow) {
  EXPECT_EQ(
      campaign_text(ladder_of_four()),
      "campaign fast: 4 edits, 2 kept\n"
      "edit  verdict  ratio  95 % interval  kept   error  challenger\n"
      "   1  faster   1.250  1.180-1.330    kept  0.73 %  ./b\n"
      "   2  failed                                       ./c\n"
      "   3  tied     1.003  0.992-1.014             1 %  ./d\n"
      "   4  faster   1.100  1.050-1.150    kept   0.5 %  ./e\n"
      "gain      1.38 times as fast as the first version: product of the kept ratios, a "
      "little too high because they were selected\n"
      "champion  ./e\n"
      "next      if the next edit is no improvement, it is kept with a chance of at most 1.8 %\n");
}

TEST(CampaignLadder, AnEditThatWasNotComparedUsesNoAllowedError) {
  CampaignLadder ladder = ladder_of_four();
  EXPECT_DOUBLE_EQ(next_error(ladder), campaign_error({true, false, true}));
  ladder.edits[1].error = 0.01;
  EXPECT_DOUBLE_EQ(next_error(ladder), campaign_error({true, false, false, true}));
}

TEST(CampaignLadder, WithoutAKeptEditTheFirstVersionIsTheChampion) {
  CampaignLadder ladder = ladder_of_four();
  ladder.edits = {ladder.edits[2]};
  EXPECT_EQ(to_text(champion_of(ladder)), "./a");
  EXPECT_THAT(campaign_text(ladder), HasSubstr("gain      none: no edit was kept\n"));
  EXPECT_EQ(edit_text(ladder), "campaign fast: edit 1, error at most 1 %, 0 kept\n");
  ladder.edits.front().error = 0.0;
  EXPECT_EQ(edit_text(ladder),
            "campaign fast: edit 1, not compared, so it uses no part of the allowed error, "
            "0 kept\n");
}

TEST(CampaignLadder, TheMeasuredGainIsShown) {
  CampaignLadder ladder = ladder_of_four();
  EXPECT_THAT(campaign_text(ladder), Not(HasSubstr("measured")));
  ladder.measured = edit("./e", CommandVerdict::faster, {1.34, 1.28, 1.4, 5, 1.28}, 0.025);
  EXPECT_THAT(campaign_text(ladder),
              HasSubstr("measured  ./e: faster, 1.34 times as fast as ./a (95 % interval "
                        "1.28-1.40)\n"));
}

TEST(CampaignLadder, AnotherCommitThanTheChampionsIsNamed) {
  CampaignLadder ladder = ladder_of_four();
  EXPECT_EQ(champion_warning(ladder, {"aaaa", "bbbb"}), "") << "the champion is a command";
  ladder.edits.back().challenger.commit = "0123456789abcdef";
  EXPECT_EQ(champion_warning(ladder, {}), "");
  EXPECT_EQ(champion_warning(ladder, {"0123456789abcdef", "bbbb"}), "");
  EXPECT_EQ(
      champion_warning(ladder, {"aaaa", "bbbb"}),
      "A is aaaa, but the campaign's champion is 0123456789ab: an edit is an improvement only "
      "if it is faster than the champion");
  EXPECT_EQ(champion_warning(CampaignLadder(), {"aaaa", "bbbb"}), "");
}

TEST(CampaignLadder, CommitsAreShortInTextAndWholeInJson) {
  CampaignLadder ladder = ladder_of_four();
  const std::string commit = "0123456789abcdef0123456789abcdef01234567";
  ladder.edits.back().challenger.commit = commit;
  EXPECT_EQ(to_text(champion_of(ladder)), "0123456789ab");
  const Json json = json_of(ladder);
  EXPECT_EQ(json["champion"]["commit"], commit);
  EXPECT_EQ(json["champion"]["command"], "./e");
  EXPECT_EQ(json["kept"], 2);
  EXPECT_NEAR(json["gain"].get<double>(), 1.375, 1e-12);
  EXPECT_TRUE(json["measured"].is_null());
  EXPECT_EQ(json["edits"][1]["verdict"], "failed");
  EXPECT_FALSE(json["edits"][1]["kept"].get<bool>());
  EXPECT_TRUE(json["edits"][1]["speed_up"].is_null());
  const Json last = last_edit_record().write(ladder);
  EXPECT_EQ(last["edit"], 4);
  EXPECT_DOUBLE_EQ(last["error"].get<double>(), 0.005);
  EXPECT_DOUBLE_EQ(last["next_error"].get<double>(), next_error(ladder));
}

}  // namespace
}  // namespace steptune
