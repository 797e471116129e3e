// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/recommendation.hpp"

#include <limits>
#include <sstream>
#include <utility>

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
  recommendation.claim = Claim::faster;
  recommendation.speed_up = {2.13, 2.05, 2.21, 3, 2.05};
  recommendation.finalists = {{7, Verdict::faster, recommendation.speed_up}};
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
            "       2.13 times as fast as baseline (95 % interval 2.05-2.21; 3 pairs, fresh "
            "processes)\n"
            "plan   41.2 h -> 19.3 h      $49.93 -> $23.39 (53 % cheaper)\n"
            "tuning took 14 min 20 s, $0.29; paid back after 1.2 % of the planned run\n"
            "next   steptune best resnet-nightly --format args\n");
}

TEST(Recommendation, NothingToGainIsAVerdictOfItsOwn) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_to_gain;
  recommendation.worth = 0.05;
  recommendation.most_gain = 0.031;
  const std::string text = recommendation_text(recommendation, two_objectives());
  EXPECT_NE(text.find("within 5 % of the best that these settings allow"), std::string::npos)
      << text;
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["claim"], "nothing_to_gain");
  EXPECT_EQ(json["worth"], 0.05);
  EXPECT_EQ(json["most_gain"], 0.031);
}

TEST(Recommendation, JsonNamesTheSettingsThatWereReset) {
  Recommendation recommendation = faster();
  recommendation.changed = {"workers"};
  recommendation.reduction = {ReductionState::reset,
                              5,
                              {{"malloc", std::string("jemalloc"), Value(std::string("libc"))},
                               {"prefetch", std::int64_t{8}, std::nullopt}}};
  recommendation.unused_s = 40.0;
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["changed"], Json({"workers"}));
  EXPECT_EQ(json["reduction"]["state"], "reset");
  EXPECT_EQ(json["reduction"]["from_trial"], 5);
  EXPECT_EQ(json["reduction"]["reset"][0],
            Json({{"name", "malloc"}, {"found", "jemalloc"}, {"now", "libc"}}));
  EXPECT_TRUE(json["reduction"]["reset"][1]["now"].is_null());
  EXPECT_EQ(json["unused_s"], 40.0);
  const auto again = recommendation_from_json(to_json(recommendation), "here");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->changed, recommendation.changed);
  EXPECT_EQ(to_json(again->reduction), to_json(recommendation.reduction));
  EXPECT_EQ(again->unused_s, 40.0);
}

TEST(Recommendation, FitsTheTerminalButForCommands) {
  Recommendation recommendation = faster();
  recommendation.incumbent_half_widths = {1'440.0, 0.48};
  recommendation.measured_s = 182.0;
  recommendation.notes = {
      "batch 128 in place of 32: the plan takes it to need as many samples; "
      "report \"gradient_noise_scale\", or compare the loss at the end of both"};
  const std::string text = recommendation_text(recommendation, two_objectives(), 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 60U) << line;
  EXPECT_NE(text.find("note   batch 128 in place of 32: the plan takes it to need\n"
                      "       as many samples; report \"gradient_noise_scale\", or\n"
                      "       compare the loss at the end of both\n"),
            std::string::npos)
      << text;
  RecommendationContext context = two_objectives();
  context.study = "resnet-nightly --db '/a/long path/to the/history.db'";
  EXPECT_NE(recommendation_text(recommendation, context, 40)
                .find("next   steptune best " + context.study + " --format args\n"),
            std::string::npos)
      << "to be copied";
}

TEST(Recommendation, TellsTheIntervalsOfPlanAndPaybackAndWhatTheyStandOn) {
  Recommendation recommendation = faster();
  recommendation.incumbent_half_widths = {1'440.0, 0.48};
  recommendation.baseline_half_widths = {3'000.0, 1.0};
  recommendation.measured_s = 182.0;
  recommendation.samples_counted = "as the program counts them, 256 a step";
  recommendation.payback_low = 0.0115;
  recommendation.payback_high = 0.0126;
  const std::string text = recommendation_text(recommendation, two_objectives());
  EXPECT_NE(
      text.find("       95 % interval 18.9 h-19.7 h, $22.91-$23.87; extrapolated from 3 min 2 "
                "s of training\n"
                "count  samples as the program counts them, 256 a step\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("paid back after 1.2 % of the planned run (1.1 % to 1.3 %)\n"),
            std::string::npos)
      << text;
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["objectives"][0]["best_half_width_95"], 1'440.0);
  EXPECT_EQ(json["extrapolated_from_s"], 182.0);
  EXPECT_EQ(json["payback_share_95"]["high"], 0.0126);

  recommendation.incumbent_half_widths = {90'000.0, 0.48};
  EXPECT_NE(recommendation_text(recommendation, two_objectives()).find("95 % interval up to "),
            std::string::npos);
  recommendation.payback_high = std::numeric_limits<double>::infinity();
  EXPECT_NE(recommendation_text(recommendation, two_objectives()).find("(1.1 % or more)"),
            std::string::npos);
}

TEST(Recommendation, SaysWhereTheDataCameFrom) {
  Recommendation recommendation = faster();
  recommendation.samples_counted = "as the program counts them";
  recommendation.page_cache = {CacheState::warm, 4096.0, "warm: a run read nothing"};
  recommendation.notes = {"a note"};
  const std::string text = recommendation_text(recommendation, two_objectives());
  EXPECT_NE(text.find("count  samples as the program counts them\n"
                      "cache  warm: a run read nothing\n"
                      "note   a note\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(recommendation_json(recommendation, two_objectives())["page_cache"],
            Json({{"state", "warm"},
                  {"storage_read_bytes", 4096.0},
                  {"text", "warm: a run read nothing"}}));
}

TEST(Recommendation, SaysWhatWasConfirmedWithinALongRun) {
  Recommendation recommendation = faster();
  recommendation.speed_up = {2.04, 1.85, 2.25, 2, 1.85};
  recommendation.finalists = {{9, Verdict::failed, {}}};
  RecommendationContext context = two_objectives();
  context.attached = true;
  const std::string text = recommendation_text(recommendation, context);
  EXPECT_NE(text.find("(95 % interval 1.85-2.25; 2 pairs, within the long run)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("trial 9: failed when it was confirmed"), std::string::npos) << text;
  EXPECT_EQ(text.find("fresh"), std::string::npos) << text;
}

TEST(Recommendation, OfCostSpeaksOfWhatIsCheaper) {
  RecommendationContext context = two_objectives();
  std::swap(context.objectives[0], context.objectives[1]);
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_faster;
  EXPECT_EQ(speed_up_text(recommendation, context),
            "the baseline: nothing was shown to be cheaper");
  recommendation.claim = Claim::feasible;
  recommendation.speed_up = {0.97, 0.93, 1.01, 3, 0.93};
  EXPECT_NE(speed_up_text(recommendation, context).find(": not shown to be cheaper"),
            std::string::npos);
}

TEST(Recommendation, SaysThatABaselineWhichViolatesAGuardIsNoChoice) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::feasible;
  recommendation.speed_up = {0.97, 0.93, 1.01, 3, 0.93};
  const std::string text = speed_up_text(recommendation, two_objectives());
  EXPECT_EQ(
      text,
      "respects all limits, which the baseline does not; 0.97 times as fast as baseline (95 % "
      "interval 0.93-1.01; 3 pairs, fresh processes): not shown to be faster");
}

TEST(Recommendation, IsTheBaselineInWordsWhereNothingWasShownToBeFaster) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_faster;
  recommendation.incumbent_trial = 1;
  recommendation.speed_up = {};
  recommendation.incumbent_objectives = recommendation.baseline_objectives;
  recommendation.payback_share.reset();
  recommendation.finalists = {{7, Verdict::not_faster, {1.02, 0.98, 1.06, 3, 0.98}},
                              {9, Verdict::failed, {}}};
  EXPECT_EQ(recommendation_text(recommendation, two_objectives()),
            "best   workers=6 batch_size=256\n"
            "       the baseline: nothing was shown to be faster\n"
            "tried  trial 7: 1.02 times as fast as baseline (95 % interval 0.98-1.06; 3 pairs, "
            "fresh processes): not shown to be faster\n"
            "tried  trial 9: failed in a fresh run\n"
            "plan   41.2 h      $49.93\n"
            "tuning took 14 min 20 s, $0.29\n"
            "next   steptune best resnet-nightly --format args\n");
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["claim"], "nothing_faster");
  EXPECT_TRUE(json["speed_up"].is_null()) << "an interval that was not measured is not told";
  EXPECT_EQ(json["finalists"][0]["verdict"], "not_faster");
}

TEST(Recommendation, SaysWhatWouldDecideAboutOneThatIsUndecided) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_faster;
  recommendation.finalists = {{9, Verdict::open, {1.35, 0.6, 3.02, 1, 0.6}}};
  RecommendationContext context = two_objectives();
  EXPECT_NE(recommendation_text(recommendation, context)
                .find("undecided: run it again with a longer --time, and it goes on\n"),
            std::string::npos);
  context.attached = true;
  EXPECT_NE(recommendation_text(recommendation, context).find("undecided: the time was too short"),
            std::string::npos)
      << "the long run is over, or has its settings";
}

TEST(Recommendation, TellsWhatAHiddenBufferCouldTake) {
  Recommendation recommendation = faster();
  recommendation.speed_up.low_if_buffered = 1.31;
  EXPECT_NE(speed_up_text(recommendation, two_objectives())
                .find(", at least 1.31 whatever a full buffer still hides"),
            std::string::npos);
}

TEST(Recommendation, SaysWhenNothingWasConfirmed) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::unconfirmed;
  recommendation.speed_up = {2.13, 2.0, 2.3, 0, 2.0};
  EXPECT_NE(speed_up_text(recommendation, two_objectives()).find("not confirmed"),
            std::string::npos);
}

TEST(Recommendation, AdvisesToKeepABaselineThatIsFaster) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::unconfirmed;
  recommendation.speed_up = {0.9, 0.85, 0.95, 0, 0.85};
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

TEST(Recommendation, TellsOfATradeOffOnlyWhereThereIsOne) {
  Recommendation recommendation = faster();
  recommendation.pareto = {7, 12};
  EXPECT_NE(recommendation_text(recommendation, two_objectives())
                .find("trade  trial 12: measurably better in cost\n"),
            std::string::npos);
  recommendation.pareto = {7};
  EXPECT_EQ(recommendation_text(recommendation, two_objectives()).find("trade"), std::string::npos);
}

TEST(Recommendation, SaysByParameterWhatIsNotDecided) {
  Recommendation recommendation = faster();
  recommendation.tied = {4, 9};
  const auto whole = [](std::vector<std::int64_t> numbers) {
    return std::vector<Value>(numbers.begin(), numbers.end());
  };
  recommendation.undecided = {
      {"batch_size", whole({16, 32, 64, 128, 256})},
      {"optimizer", {"adam", "lamb", "lion", "muon", "sgd", "sophia"}},
      {"threads", whole({1, 2})},
      {"workers", whole({4, 6, 8})},
  };
  RecommendationContext context = two_objectives();
  context.parameter_order = {"workers", "threads", "batch_size", "optimizer"};
  const std::string text = recommendation_text(recommendation, context, 80);
  EXPECT_NE(
      text.find("tied   trial 4, 9: no measurable difference; not decided in this time: workers\n"
                "       4, 6 or 8; threads 1 or 2; batch_size 16 to 256; optimizer adam, lamb,\n"
                "       lion, muon or 2 more\n"),
      std::string::npos)
      << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
  const Json json = recommendation_json(recommendation, context);
  EXPECT_EQ(json["undecided"]["threads"], Json::parse("[1, 2]"));
  EXPECT_TRUE(recommendation_json(faster(), context)["undecided"].empty());
}

TEST(Recommendation, WithoutAPriceTellsWhatTheTuningTookOfMachines) {
  Recommendation recommendation = faster();
  recommendation.tuning_usd = 0.0;
  RecommendationContext context = two_objectives();
  EXPECT_FALSE(recommendation_json(recommendation, context).contains("tuning_machine_hours"));
  context.machine_hours = 1.25;
  EXPECT_NE(recommendation_text(recommendation, context)
                .find("tuning took 14 min 20 s, 1.25 machine-hours; paid back after 1.2 %"),
            std::string::npos);
  EXPECT_EQ(recommendation_json(recommendation, context)["tuning_machine_hours"], 1.25);
}

TEST(Recommendation, JsonHasTheFiguresInSiUnits) {
  const Json json = recommendation_json(faster(), two_objectives());
  EXPECT_EQ(json["trial"], 7);
  EXPECT_EQ(json["objectives"][0]["best"], 69'480.0);
  EXPECT_EQ(json["objectives"][1]["unit"], "USD");
  EXPECT_EQ(json["speed_up"]["interleaved_pairs"], 3);
  EXPECT_TRUE(json["speed_up"]["repeat_low_95"].is_null()) << "not known";
  EXPECT_EQ(json["payback_share"], 0.012);
}

/// The line of a recommendation's text that begins so.
std::string line_of(const std::string& text, const std::string& beginning) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) return line;
  }
  return {};
}

TEST(Recommendation, TellsADearerRunAndOfNoDifferenceNothing) {
  Recommendation recommendation = faster();
  const auto plan = [&](double baseline_usd, double best_usd) {
    recommendation.baseline_objectives[1] = baseline_usd;
    recommendation.incumbent_objectives[1] = best_usd;
    const std::string line = line_of(recommendation_text(recommendation, two_objectives()), "plan");
    return line.substr(line.find('$'));
  };
  EXPECT_EQ(plan(10.0, 12.5), "$10.00 -> $12.50 (25 % dearer)");
  EXPECT_EQ(plan(10.0, 9.96), "$10.00 -> $9.96");
  EXPECT_EQ(plan(10.0, 10.04), "$10.00 -> $10.04");
  EXPECT_EQ(plan(0.0, 10.0), "$0.00 -> $10.00");
}

TEST(Recommendation, OfAnotherObjectiveIsComparedInItsOwnWords) {
  Recommendation recommendation = faster();
  RecommendationContext context = two_objectives();
  context.objectives = {planned_cost()};
  EXPECT_EQ(speed_up_text(recommendation, context).substr(0, 38),
            "the baseline costs 2.13 times as much ");
  context.objectives = {{Objective{"accuracy", Direction::maximize}, false}};
  EXPECT_EQ(speed_up_text(recommendation, context).substr(0, 44),
            "2.13 times as good as baseline in accuracy (");
  recommendation.speed_up.ratio = 213.0;
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()).substr(0, 30),
            "213 times as fast as baseline ");
  recommendation.speed_up.ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()),
            "cannot be compared with the baseline by a ratio");
}

TEST(Recommendation, ThatIsNotConfirmedSaysSoAndKeepsTheBaselineWhereItIsSlower) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::unconfirmed;
  recommendation.speed_up = {0.8, 0.7, 0.9, 0, 0.7};
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()),
            "0.80 times as fast as baseline (95 % interval 0.70-0.90; from the search trials only, "
            "not confirmed): keep the baseline");
  recommendation.speed_up.high = 1.1;
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()).find("keep"), std::string::npos);
  recommendation.speed_up.low = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()),
            "0.80 times as fast as baseline (from the search trials only, not confirmed)");
}

TEST(Recommendation, OfOnePairSaysWhatABufferMayHide) {
  Recommendation recommendation = faster();
  recommendation.speed_up = {2.0, 1.8, 2.2, 1, 1.5};
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()),
            "2.00 times as fast as baseline (95 % interval 1.80-2.20; 1 pair, fresh processes), at "
            "least 1.50 whatever a full buffer still hides");
  recommendation.speed_up.low_if_buffered = 1.79;
  EXPECT_EQ(speed_up_text(recommendation, two_objectives()).find("buffer"), std::string::npos)
      << "not worth a word";
}

TEST(Recommendation, NamesTheTiedAndTheOnesThatTradeAFew) {
  Recommendation recommendation = faster();
  recommendation.tied = {7, 1, 2, 3, 4, 5, 6, 8, 9};
  recommendation.pareto = {7, 11};
  const std::string text = recommendation_text(recommendation, two_objectives());
  EXPECT_EQ(line_of(text, "tied"), "tied   trial 1, 2, 3, 4, 5, 6, 8, 9: no measurable difference");
  EXPECT_EQ(line_of(text, "trade"), "trade  trial 11: measurably better in cost");
  recommendation.tied.push_back(10);
  EXPECT_EQ(line_of(recommendation_text(recommendation, two_objectives()), "tied"),
            "tied   trial 1, 2, 3, 4, 5, 6, 8, 9 and 1 more: no measurable difference");
  recommendation.tied = {7};
  EXPECT_EQ(line_of(recommendation_text(recommendation, two_objectives()), "tied"), "");
  RecommendationContext one = two_objectives();
  one.objectives.pop_back();
  EXPECT_EQ(line_of(recommendation_text(recommendation, one), "trade"), "");
}

TEST(Recommendation, ThatDoesNotPayInOneRunSaysSo) {
  Recommendation recommendation = faster();
  const auto tuning = [&] {
    return line_of(recommendation_text(recommendation, two_objectives()), "tuning");
  };
  recommendation.payback_share = 1.0;
  EXPECT_EQ(tuning(), "tuning took 14 min 20 s, $0.29; paid back after 100 % of the planned run");
  recommendation.payback_share = 1.01;
  EXPECT_EQ(tuning(), "tuning took 14 min 20 s, $0.29; not paid back by one planned run");
  recommendation.payback_share.reset();
  recommendation.tuning_usd = 0.0;
  EXPECT_EQ(tuning(), "tuning took 14 min 20 s");
  RecommendationContext context = two_objectives();
  context.machine_hours = 0.87;
  EXPECT_EQ(line_of(recommendation_text(recommendation, context), "tuning"),
            "tuning took 14 min 20 s, 0.87 machine-hours");
}

TEST(Recommendation, AsJsonTellsAllThatItsTextDoes) {
  Recommendation recommendation = faster();
  recommendation.tied = {3};
  recommendation.pareto = {4};
  recommendation.notes = {"a note"};
  recommendation.least_samples_ratio = 1.0;
  recommendation.most_samples_ratio = 2.0;
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["trial"], 7);
  EXPECT_EQ(json["configuration"], Json::parse(R"({"batch_size": 256, "workers": 6})"));
  EXPECT_EQ(json["objectives"][1]["metric"], "cost");
  EXPECT_EQ(json["objectives"][1]["baseline"], 49.93);
  EXPECT_EQ(json["objectives"][1]["best"], 23.39);
  EXPECT_TRUE(json["objectives"][1]["best_half_width_95"].is_null());
  EXPECT_EQ(json["speed_up"]["interleaved_pairs"], 3);
  EXPECT_EQ(json["finalists"][0]["trial"], 7);
  EXPECT_EQ(json["tied_trials"], Json::array({3}));
  EXPECT_EQ(json["pareto_trials"], Json::array({4}));
  EXPECT_EQ(json["notes"], Json::array({"a note"}));
  EXPECT_EQ(json["samples_ratio"]["most"], 2.0);
  EXPECT_TRUE(json["samples_counted"].is_null());
  EXPECT_EQ(json["page_cache"],
            Json({{"state", "not_known"}, {"storage_read_bytes", nullptr}, {"text", nullptr}}));
  EXPECT_TRUE(json["extrapolated_from_s"].is_null());
  EXPECT_EQ(json["tuning_s"], 860.0);
  EXPECT_EQ(json["tuning_usd"], 0.29);
  EXPECT_EQ(json["payback_share"], 0.012);
  EXPECT_FALSE(json.contains("tuning_machine_hours"));
  recommendation.payback_share.reset();
  EXPECT_TRUE(recommendation_json(recommendation, two_objectives())["payback_share"].is_null());
}

}  // namespace
}  // namespace steptune
