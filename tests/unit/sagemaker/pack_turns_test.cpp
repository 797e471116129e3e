// SPDX-License-Identifier: Apache-2.0
//
// Tests whose turn it is in a job with several trials, and how its bill is divided.
#include "trial_runner/sagemaker/pack_turns.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TrialKey k_turn_1{1, 1};
constexpr TrialKey k_turn_2{2, 1};
constexpr TrialKey k_turn_3{3, 1};

std::vector<std::string> texts_of(const std::vector<LogLine>& lines) {
  std::vector<std::string> texts;
  for (const LogLine& line : lines)
    texts.push_back(line.text);
  return texts;
}

TEST(PackTurns, LinesAreTakenInTheOrderInWhichTheyWerePrinted) {
  PackTurns turns(2);
  for (const auto& [wall_s, text] : {std::pair{12.0, "c"}, {10.0, "a"}, {11.0, "b1"}, {11.0, "b2"}})
    turns.keep({"job", "algo-1", wall_s, text});
  EXPECT_THAT(turns.take_until(9.9), IsEmpty());
  EXPECT_THAT(texts_of(turns.take_until(11.0)), ElementsAre("a", "b1", "b2"));
  EXPECT_THAT(turns.take_until(11.0), IsEmpty()) << "each line is taken once";
  EXPECT_THAT(texts_of(turns.take_until(1e12)), ElementsAre("c"));
}

TEST(PackTurns, OneTurnFollowsAnother) {
  PackTurns turns(2);
  EXPECT_TRUE(turns.none_has_begun());
  EXPECT_EQ(turns.whose_turn(), std::nullopt);
  EXPECT_TRUE(turns.begin(k_turn_1, 100.0));
  EXPECT_FALSE(turns.none_has_begun());
  EXPECT_EQ(turns.whose_turn(), k_turn_1);
  EXPECT_FALSE(turns.has_ended(k_turn_1));
  EXPECT_TRUE(turns.end(k_turn_1, 160.0));
  EXPECT_TRUE(turns.has_ended(k_turn_1));
  EXPECT_EQ(turns.whose_turn(), std::nullopt) << "between two turns";
  EXPECT_TRUE(turns.begin(k_turn_2, 161.0));
  EXPECT_EQ(turns.whose_turn(), k_turn_2);
}

TEST(PackTurns, MarksThatAreReadAgainChangeNothing) {
  PackTurns turns(2);
  EXPECT_FALSE(turns.end(k_turn_1, 100.0)) << "it has not begun";
  EXPECT_TRUE(turns.begin(k_turn_1, 100.0));
  EXPECT_FALSE(turns.begin(k_turn_1, 120.0));
  EXPECT_TRUE(turns.end(k_turn_1, 160.0));
  EXPECT_FALSE(turns.end(k_turn_1, 190.0));
  EXPECT_FALSE(turns.begin(k_turn_1, 200.0)) << "it is over";
  EXPECT_DOUBLE_EQ(turns.take_share_s(k_turn_1), 60.0);
  EXPECT_FALSE(turns.has_ended(k_turn_3));
}

TEST(PackTurns, TheFirstLimitIsWhyATurnEnds) {
  PackTurns turns(3);
  turns.set_limit(k_turn_1, TurnLimit::slowness);
  EXPECT_EQ(turns.limit_of(k_turn_1), std::nullopt) << "it has not begun";
  for (const TrialKey key : {k_turn_1, k_turn_2, k_turn_3})
    EXPECT_TRUE(turns.begin(key, 100.0));
  EXPECT_EQ(turns.limit_of(k_turn_1), std::nullopt);
  turns.set_limit(k_turn_1, TurnLimit::time);
  EXPECT_EQ(turns.limit_of(k_turn_1), TurnLimit::time);
  turns.set_limit(k_turn_2, TurnLimit::slowness);
  turns.set_limit(k_turn_2, TurnLimit::time);
  EXPECT_EQ(turns.limit_of(k_turn_2), TurnLimit::slowness);
  turns.set_limit(k_turn_3, TurnLimit::silence);
  turns.set_limit(k_turn_3, TurnLimit::time);
  EXPECT_EQ(turns.limit_of(k_turn_3), TurnLimit::silence);
}

TEST(PackTurns, TimeBeforeTheFirstTurnIsSharedEvenly) {
  PackTurns turns(4);
  turns.set_billed_since(40.0);
  EXPECT_TRUE(turns.begin(k_turn_1, 100.0));
  EXPECT_DOUBLE_EQ(turns.take_share_s(k_turn_1), 0.0) << "the trial's turn is not over";
  EXPECT_TRUE(turns.end(k_turn_1, 130.0));
  EXPECT_DOUBLE_EQ(turns.take_share_s(k_turn_1), 30.0 + 60.0 / 4.0);
  turns.set_billable(200.0);
  EXPECT_DOUBLE_EQ(turns.take_rest_s(), 200.0 - 45.0);
  EXPECT_DOUBLE_EQ(turns.take_rest_s(), 0.0) << "reported once";
  EXPECT_DOUBLE_EQ(turns.take_share_s(k_turn_2), 0.0) << "never begun";
}

TEST(PackTurns, AClockThatGoesBackGivesNoNegativeTurn) {
  PackTurns turns(1);
  turns.set_billed_since(300.0);
  EXPECT_TRUE(turns.begin(k_turn_1, 100.0));
  EXPECT_TRUE(turns.end(k_turn_1, 90.0));
  EXPECT_DOUBLE_EQ(turns.take_share_s(k_turn_1), 0.0);
}

/// For random turns, the reported shares and rest add up to the bill, if the bill covers the turns.
TEST(PackTurns, SharesAndRestAddUpToTheBill) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, "pack_turns");
    const auto trials = static_cast<std::int64_t>(1 + rng.below(8));
    PackTurns turns(static_cast<std::size_t>(trials));
    double wall_s = 1000.0;
    turns.set_billed_since(wall_s);
    double reported_s = 0.0;
    for (std::int64_t trial = 1; trial <= trials; ++trial) {
      wall_s += 30.0 * rng.uniform();
      EXPECT_TRUE(turns.begin({trial, 1}, wall_s));
      wall_s += 100.0 * rng.uniform();
      if (rng.below(8) == 0) break;  // the job dies in this turn
      EXPECT_TRUE(turns.end({trial, 1}, wall_s));
      const double share_s = turns.take_share_s({trial, 1});
      EXPECT_GE(share_s, 0.0);
      reported_s += share_s;
    }
    const double billable_s = wall_s - 1000.0 + 20.0 * rng.uniform();
    turns.set_billable(billable_s);
    reported_s += turns.take_rest_s();
    EXPECT_NEAR(reported_s, billable_s, 1e-6) << "seed " << seed;
  }
}

}  // namespace
}  // namespace steptune
