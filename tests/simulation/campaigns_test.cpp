// SPDX-License-Identifier: Apache-2.0
// Tests the rules of campaigns in simulation; benchmarks/campaigns simulates more of them.
#include <cstdint>

#include <gtest/gtest.h>

#include "benchmarks/campaigns/simulated_campaign.hpp"

namespace steptune::campaigns {
namespace {

/// Results of many campaigns together.
struct Sum {
  int with_false_keep = 0;
  int improvements = 0, found = 0, false_keeps = 0;
  double spent_s = 0.0;
};

Sum play_all(CampaignModel model, int campaigns) {
  Sum sum;
  for (int i = 0; i < campaigns; ++i) {
    model.seed = 5000 + static_cast<std::uint64_t>(i);
    const CampaignResult result = play(model);
    sum.with_false_keep += result.false_keeps > 0 ? 1 : 0;
    sum.improvements += result.improvements;
    sum.found += result.found;
    sum.false_keeps += result.false_keeps;
    sum.spent_s += result.spent_s;
  }
  return sum;
}

TEST(Campaigns, EditsThatChangeNothingAreRarelyKept) {
  constexpr int k_campaigns = 100;
  for (const double variation : {0.0, 0.01, 0.03, 0.1}) {
    CampaignModel model;
    model.launch_variation = variation;
    EXPECT_LE(play_all(model, k_campaigns).with_false_keep, 0.05 * k_campaigns) << variation;
  }
  CampaignModel model;
  model.launch_variation = 0.0;
  model.rule = Rule::two_wins;
  EXPECT_EQ(play_all(model, k_campaigns).with_false_keep, k_campaigns);
}

TEST(Campaigns, ImprovementsAreFoundAndFewOthersKept) {
  CampaignModel model;
  model.gain_every = 10;
  model.gain = 0.1;
  const Sum sum = play_all(model, 50);
  EXPECT_EQ(sum.improvements, 500);
  EXPECT_GE(sum.found, 475);
  EXPECT_LE(sum.false_keeps, 0.05 * (sum.found + sum.false_keeps));
}

TEST(Campaigns, TheSameModelGivesTheSameResult) {
  CampaignModel model;
  model.gain_every = 10;
  model.gain = 0.03;
  const CampaignResult first = play(model);
  const CampaignResult second = play(model);
  EXPECT_EQ(first.found, second.found);
  EXPECT_DOUBLE_EQ(first.spent_s, second.spent_s);
  model.seed = 1;
  EXPECT_NE(play(model).spent_s, first.spent_s);
}

}  // namespace
}  // namespace steptune::campaigns
