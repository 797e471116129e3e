// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_report.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

LoopResult ended(LoopEnd end, LoopEnd search_end, Claim claim) {
  LoopResult result;
  result.end = end;
  result.search_end = search_end;
  result.recommendation.emplace();
  result.recommendation->claim = claim;
  return result;
}

TEST(RunEvent, SaysWhetherMoreBudgetMightHelp) {
  EXPECT_EQ(run_event(ended(LoopEnd::budget, LoopEnd::budget, Claim::faster)), "improved");
  EXPECT_EQ(run_event(ended(LoopEnd::nothing_faster, LoopEnd::budget, Claim::nothing_faster)),
            "budget");
  EXPECT_EQ(run_event(ended(LoopEnd::nothing_faster, LoopEnd::exhausted, Claim::nothing_faster)),
            "completed");
  EXPECT_EQ(run_event(ended(LoopEnd::nothing_to_gain, LoopEnd::budget, Claim::nothing_to_gain)),
            "completed")
      << "finding nothing to gain is a result";
  EXPECT_EQ(run_event(ended(LoopEnd::payback, LoopEnd::payback, Claim::feasible)), "completed");
}

TEST(RunEvent, IsAFailureWithoutARecommendation) {
  LoopResult result = ended(LoopEnd::budget, LoopEnd::budget, Claim::faster);
  result.recommendation.reset();
  EXPECT_EQ(run_event(result), "failed");
  EXPECT_EQ(
      run_event(ended(LoopEnd::too_many_failures, LoopEnd::too_many_failures, Claim::unconfirmed)),
      "failed");
}

}  // namespace
}  // namespace steptune
