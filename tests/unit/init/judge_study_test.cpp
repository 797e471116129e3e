// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/judge_study.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

/// `judge --study judge --trial 2` compares trials of an earlier judgement, perhaps of a campaign.
TEST(JudgeStudy, TakesNoErrorAndNoScatterFromAnEarlierJudgement) {
  const Json earlier = {{"measure",
                         {{"confirm_error", 0.001},
                          {"confirm_slowdown", 0.03},
                          {"pair_deviation", 0.1},
                          {"pair_freedom", 9.0},
                          {"min_window", 2.0}}}};
  JudgeRequest request;
  request.name = "judge";
  request.time_s = 60.0;
  Json document = earlier;
  set_judging(request, 2, document);
  const Json expected = {{"min_window", 2.0}, {"confirm_all", true}, {"sentinels", false}};
  EXPECT_EQ(document["measure"], expected);

  request.error = 0.005;
  request.pair_deviation = 0.05;
  request.pair_freedom = 4.0;
  document = earlier;
  set_judging(request, 2, document);
  EXPECT_EQ(document["measure"]["confirm_error"], 0.005);
  EXPECT_EQ(document["measure"]["pair_freedom"], 4.0);
  EXPECT_FALSE(document["measure"].contains("confirm_slowdown"));
}

}  // namespace
}  // namespace steptune
