// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/recommendation.hpp"

#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

Recommendation faster() {
  Recommendation recommendation;
  recommendation.incumbent_trial = 7;
  recommendation.configuration.set("batch_size", std::int64_t{256});
  recommendation.configuration.set("workers", std::int64_t{6});
  recommendation.baseline_objectives = {148'320.0, 49.93};
  recommendation.incumbent_objectives = {69'480.0, 23.39};
  recommendation.speed_up = {2.13, 2.05, 2.21, 3};
  recommendation.tuning_s = 860.0;
  recommendation.tuning_usd = 0.29;
  recommendation.payback_share = 0.012;
  return recommendation;
}

RecommendationContext two_objectives() {
  return {"resnet-nightly", {planned_time(), planned_cost()}, {"workers", "batch_size"}};
}

TEST(Recommendation, TellsBestPlanPriceAndNextStep) {
  EXPECT_EQ(recommendation_text(faster(), two_objectives()),
            "best   workers=6 batch_size=256\n"
            "       2.13 times as fast as the baseline (95 % interval 2.05-2.21; 3 interleaved "
            "pairs, fresh "
            "processes)\n"
            "plan   41.2 h -> 19.3 h      $49.93 -> $23.39 (53 % cheaper)\n"
            "tuning took 14 min 20 s, $0.29; paid back after 1.2 % of the planned run\n"
            "next   steptune best resnet-nightly --format args\n");
}

TEST(Recommendation, DoesNotClaimADifferenceThatTheIntervalDoesNotShow) {
  Recommendation recommendation = faster();
  recommendation.speed_up = {1.02, 0.98, 1.06, 3};
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()),
            "no clear difference from the baseline: 1.02x (95 % interval 0.98-1.06; 3 interleaved "
            "pairs, fresh processes)");
}

TEST(Recommendation, SaysWhenNothingWasConfirmed) {
  Recommendation recommendation = faster();
  recommendation.speed_up = {2.13, 2.0, 2.3, 0};
  EXPECT_NE(speed_up_text(recommendation, two_objectives()).find("not confirmed"),
            std::string::npos);
}

TEST(Recommendation, AdvisesToKeepABaselineThatIsFaster) {
  Recommendation recommendation = faster();
  recommendation.speed_up = {0.9, 0.85, 0.95, 3};
  EXPECT_NE(speed_up_text(recommendation, two_objectives()).find("keep the baseline"),
            std::string::npos);
}

TEST(Recommendation, WithoutAPlannedRunGivesRates) {
  RecommendationContext context{"demo", {{Objective{"time", Direction::minimize}, false}}, {}};
  Recommendation recommendation = faster();
  recommendation.baseline_objectives = {1'800.0};
  recommendation.incumbent_objectives = {900.0};
  recommendation.payback_share.reset();
  const std::string text = recommendation_text(recommendation, context);
  EXPECT_NE(text.find("rate   30 min -> 15 min per million samples\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("paid back"), std::string::npos);
}

TEST(Recommendation, SaysWhenTheTuningDoesNotPay) {
  Recommendation recommendation = faster();
  recommendation.payback_share = 3.0;
  EXPECT_NE(recommendation_text(recommendation, two_objectives())
                .find("not paid back by one planned run"),
            std::string::npos);
}

TEST(Recommendation, ListsTiedTrialsWithoutTheBestItself) {
  Recommendation recommendation = faster();
  recommendation.tied = {7, 4, 9};
  EXPECT_NE(recommendation_text(recommendation, two_objectives())
                .find("tied   trial 4, 9: no measurable difference\n"),
            std::string::npos);
}

TEST(Recommendation, JsonHasTheFiguresInSiUnits) {
  const Json json = recommendation_json(faster(), two_objectives());
  EXPECT_EQ(json["trial"], 7);
  EXPECT_EQ(json["objectives"][0]["best"], 69'480.0);
  EXPECT_EQ(json["objectives"][1]["unit"], "USD");
  EXPECT_EQ(json["speed_up"]["interleaved_pairs"], 3);
  EXPECT_EQ(json["payback_share"], 0.012);
}

}  // namespace
}  // namespace steptune
