// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/recommendation.hpp"

#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/verdict/recommendation_record.hpp"

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
  RecommendationContext context{
      "resnet-nightly", {planned_time(), planned_cost()}, {"workers", "batch_size"}};
  context.changes = {{"workers", Value{std::int64_t{0}}, Value{std::int64_t{6}}, "", "--workers 6"},
                     {"batch_size", Value{std::int64_t{32}}, Value{std::int64_t{256}}, "", ""}};
  return context;
}

/// Returns the line of a recommendation's text that starts with `beginning`.
std::string line_of(const std::string& text, const std::string& beginning) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) return line;
  }
  return {};
}

TEST(Recommendation, SaysVerdictPlanCostAndNextStep) {
  EXPECT_EQ(recommendation_text(faster(), two_objectives()),
            "2.13 times as fast (95 % interval 2.05-2.21, 3 launches each)\n"
            "change  workers     0 -> 6     --workers 6\n"
            "        batch_size  32 -> 256\n"
            "plan    41.2 h -> 19.3 h, $49.93 -> $23.39\n"
            "cost    14 min 20 s, $0.29; paid back after 1.2 % of the planned run\n"
            "next    steptune exec resnet-nightly\n");
}

TEST(Recommendation, SaysInOneLineThatARangeEnds) {
  RecommendationContext context = two_objectives();
  EXPECT_EQ(line_of(recommendation_text(faster(), context), "range"), "");
  context.changes[1].ends_range = true;
  EXPECT_EQ(line_of(recommendation_text(faster(), context), "range"),
            "range   batch_size 256 is the end of its range: nothing beyond was tried");
  EXPECT_EQ(recommendation_json(faster(), context)["changes"][1]["ends_range"], true);
  Recommendation kept = faster();
  kept.claim = Claim::nothing_to_gain;
  EXPECT_EQ(line_of(recommendation_text(kept, context), "range"), "") << "nothing changes";
}

TEST(Recommendation, HasAVerdictForNothingToGain) {
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

TEST(Recommendation, ShowsTheCostOfLoadingWithoutChanges) {
  RecommendationContext context = two_objectives();
  context.loading_ceiling = 1.02;
  const std::string limit =
      "limit   data loading costs 2 % of a step: at most 1.02 times as fast without it (measured "
      "with cached batches)";
  EXPECT_EQ(line_of(recommendation_text(faster(), context), "limit"), "");
  EXPECT_EQ(line_of(details_text(faster(), context), "limit"), limit);
  Recommendation kept = faster();
  kept.claim = Claim::nothing_to_gain;
  EXPECT_EQ(line_of(recommendation_text(kept, context), "limit"), limit);
  EXPECT_EQ(line_of(details_text(kept, context), "limit"), "");
  EXPECT_EQ(recommendation_json(kept, context)["loading_ceiling"], 1.02);
  EXPECT_TRUE(recommendation_json(kept, two_objectives())["loading_ceiling"].is_null());
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
  EXPECT_EQ(to_json(*again)["reduction"], to_json(recommendation)["reduction"]);
  EXPECT_EQ(again->unused_s, 40.0);
}

TEST(Recommendation, FitsTheTerminalButForCommands) {
  Recommendation recommendation = faster();
  recommendation.incumbent_half_widths = {1'440.0, 0.48};
  recommendation.measured_s = 182.0;
  recommendation.notes = {
      {"batch 128 in place of 32: the plan assumes that it needs as many samples; "
       "report \"gradient_noise_scale\", or compare the loss at the end of both"}};
  RecommendationContext context = two_objectives();
  context.batches = {32.0, 256.0};
  const std::string text =
      result_text(recommendation, context, 60) + details_text(recommendation, context, 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 60U) << line;
  EXPECT_NE(text.find("note    batch 128 in place of 32: the plan assumes that it\n"
                      "        needs as many samples; report\n"
                      "        \"gradient_noise_scale\", or compare the loss at the\n"
                      "        end of both\n"),
            std::string::npos)
      << text;
  context.command = "python3 train.py --data '/a/long path/to/the/data' --epochs 90";
  EXPECT_NE(recommendation_text(recommendation, context, 40)
                .find("next    steptune exec resnet-nightly -- " + context.command + "\n"),
            std::string::npos)
      << "to be copied";
}

TEST(Recommendation, SaysThatAnotherBatchIsAssumedToNeedAsManySamples) {
  RecommendationContext context = two_objectives();
  context.batches = {32.0, 256.0};
  EXPECT_EQ(line_of(recommendation_text(faster(), context), "plan"),
            "plan    41.2 h -> 19.3 h, $49.93 -> $23.39, if batch 256 needs no more samples than "
            "batch 32");
  Recommendation scaled = faster();
  scaled.most_samples_ratio = 1.3;
  EXPECT_EQ(recommendation_text(scaled, context).find("if batch"), std::string::npos)
      << "the gradient noise scale already says how many samples are needed";
}

TEST(Recommendation, NamesTheCommandThatFitsTheStudy) {
  RecommendationContext context = two_objectives();
  const auto next = [&] { return line_of(recommendation_text(faster(), context), "next"); };
  context.runs_here = false;
  EXPECT_EQ(next(), "next    steptune best resnet-nightly --format args") << "on other machines";
  context.has_command = false;
  EXPECT_EQ(next(), "next    steptune best resnet-nightly --format json");
}

TEST(Recommendation, ShowsTheTimeThatWouldDecide) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_faster;
  recommendation.finalists = {{9, Verdict::open, {1.2, 0.9, 1.6, 2, 0.9}}};
  recommendation.finalists[0].speed_up.more_pairs = 3.0;
  recommendation.tuning_s = 180.0;
  RecommendationContext context = two_objectives();
  context.rerun = "steptune run study.json";
  context.pair_s = 30.0;
  const std::string text = recommendation_text(recommendation, context);
  EXPECT_NE(text.find("; about 1 min 30 s more would decide\n"), std::string::npos) << text;
  // A second undecided finalist runs in each round, too.
  Recommendation two = recommendation;
  two.finalists.push_back({10, Verdict::open, {1.1, 0.8, 1.5, 2, 0.8}});
  const std::string longer = recommendation_text(two, context);
  EXPECT_NE(longer.find("; about 2 min 15 s more would decide\n"), std::string::npos) << longer;
  EXPECT_EQ(line_of(text, "next"), "next    steptune run study.json --time 5m");
  context.pair_s.reset();
  EXPECT_EQ(line_of(recommendation_text(recommendation, context), "next"),
            "next    steptune run study.json --time 6m")
      << "twice the time if nothing says how much";
  recommendation.finalists[0].speed_up.more_pairs = std::numeric_limits<double>::quiet_NaN();
  context.pair_s = 30.0;
  EXPECT_EQ(recommendation_text(recommendation, context).find("would decide"), std::string::npos)
      << "the number of pairs is not known";
}

TEST(Recommendation, ShowsNoTimeThatWouldDecideIfTheStudyIsDecided) {
  RecommendationContext context = two_objectives();
  context.pair_s = 30.0;
  Recommendation recommendation = faster();
  // Another finalist is still open.
  recommendation.finalists.push_back({9, Verdict::open, {1.2, 0.9, 1.6, 2, 0.9}});
  for (const Claim claim : {Claim::faster, Claim::feasible, Claim::nothing_to_gain}) {
    recommendation.claim = claim;
    const std::string text = recommendation_text(recommendation, context);
    EXPECT_EQ(text.find("would decide"), std::string::npos) << text;
  }
}

TEST(Recommendation, DetailsHaveIntervalsAndTheirBasis) {
  Recommendation recommendation = faster();
  recommendation.incumbent_half_widths = {1'440.0, 0.48};
  recommendation.baseline_half_widths = {3'000.0, 1.0};
  recommendation.measured_s = 182.0;
  recommendation.samples_counted = "as the program counts them, 256 a step";
  recommendation.payback_low = 0.0115;
  recommendation.payback_high = 0.0126;
  EXPECT_EQ(details_text(recommendation, two_objectives()),
            "basis   95 % interval 18.9 h-19.7 h, $22.91-$23.87; extrapolated from 3 min 2 s of "
            "training\n"
            "payback after 1.1 % to 1.3 % of the planned run\n"
            "count   samples as the program counts them, 256 a step\n");
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["objectives"][0]["best_half_width_95"], 1'440.0);
  EXPECT_EQ(json["extrapolated_from_s"], 182.0);
  EXPECT_EQ(json["payback_share_95"]["high"], 0.0126);
  EXPECT_EQ(json["next"], "steptune exec resnet-nightly");

  recommendation.incumbent_half_widths = {90'000.0, 0.48};
  EXPECT_NE(details_text(recommendation, two_objectives()).find("95 % interval up to "),
            std::string::npos);
  recommendation.payback_high = std::numeric_limits<double>::infinity();
  EXPECT_NE(details_text(recommendation, two_objectives())
                .find("payback after 1.1 % or more of the planned run\n"),
            std::string::npos);
}

TEST(Recommendation, DetailsSayWhereTheDataCameFrom) {
  Recommendation recommendation = faster();
  recommendation.samples_counted = "as the program counts them";
  recommendation.page_cache = {CacheState::warm, 4096.0, "warm: a run read nothing"};
  recommendation.notes = {Note{"a note"}};
  EXPECT_EQ(details_text(recommendation, two_objectives()),
            "count   samples as the program counts them\n"
            "cache   warm: a run read nothing\n"
            "note    a note\n");
  EXPECT_EQ(recommendation_json(recommendation, two_objectives())["page_cache"],
            Json({{"state", "warm"},
                  {"storage_read_bytes", 4096.0},
                  {"text", "warm: a run read nothing"}}));
}

TEST(Recommendation, KeepsTodaysSettingsIfNothingWasShownToBeFaster) {
  Recommendation recommendation = faster();
  recommendation.claim = Claim::nothing_faster;
  recommendation.incumbent_trial = 1;
  recommendation.speed_up = {};
  recommendation.incumbent_objectives = recommendation.baseline_objectives;
  recommendation.payback_share.reset();
  recommendation.finalists = {{7, Verdict::not_faster, {1.02, 0.98, 1.06, 3, 0.98}},
                              {9, Verdict::failed, {}}};
  EXPECT_EQ(
      recommendation_text(recommendation, two_objectives()),
      "keep today's settings: the best found is 1.02 times as fast (95 % interval 0.98-1.06, "
      "3 launches each)\n"
      "plan    41.2 h, $49.93\n"
      "cost    14 min 20 s, $0.29\n"
      "next    keep today's settings; what limits them: steptune bottleneck resnet-nightly\n");
  EXPECT_EQ(details_text(recommendation, two_objectives()),
            "tried   trial 7: 1.02 times as fast (95 % interval 0.98-1.06, 3 launches each): not "
            "shown to be faster\n"
            "tried   trial 9: failed in a fresh run\n");
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["claim"], "nothing_faster");
  EXPECT_EQ(json["outcome"], "not_faster");
  EXPECT_TRUE(json["speed_up"].is_null()) << "an interval that was not measured is null";
  EXPECT_EQ(json["finalists"][0]["verdict"], "not_faster");
}

TEST(Recommendation, DetailsNameTheLowerEndThatBuffersLeave) {
  Recommendation recommendation = faster();
  recommendation.speed_up.low_if_buffered = 1.31;
  EXPECT_EQ(line_of(details_text(recommendation, two_objectives()), "buffer"),
            "buffer  at least 1.31 times as fast even if full data buffers hide as much loading as "
            "they can");
  EXPECT_EQ(recommendation_text(recommendation, two_objectives()).find("buffer"),
            std::string::npos);
  recommendation.speed_up.low_if_buffered = 2.04;
  EXPECT_EQ(details_text(recommendation, two_objectives()), "") << "not worth a line";
}

TEST(Recommendation, WithoutAPlannedRunGivesRates) {
  RecommendationContext context{"demo", {{Objective{"time", Direction::minimize}, false}}, {}};
  Recommendation recommendation = faster();
  recommendation.baseline_objectives = {1'800.0};
  recommendation.incumbent_objectives = {900.0};
  recommendation.payback_share.reset();
  const std::string text = recommendation_text(recommendation, context);
  EXPECT_NE(text.find("rate    30 min -> 15 min per million samples\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("paid back"), std::string::npos);
}

TEST(Recommendation, NamesUndecidedParameters) {
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
  const std::string text = details_text(recommendation, context, 80);
  EXPECT_EQ(text,
            "tied    trial 4, 9: no measurable difference; too close to call: workers 4, 6 or\n"
            "        8; threads 1 or 2; batch_size 16 to 256; optimizer adam, lamb, lion,\n"
            "        muon or 2 more\n");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
  const Json json = recommendation_json(recommendation, context);
  EXPECT_EQ(json["undecided"]["threads"], Json::parse("[1, 2]"));
  EXPECT_TRUE(recommendation_json(faster(), context)["undecided"].empty());
}

TEST(Recommendation, DetailsNameTiesAndTradeOffsWithoutTheBestItself) {
  Recommendation recommendation = faster();
  recommendation.tied = {7, 1, 2, 3, 4, 5, 6, 8, 9};
  recommendation.pareto = {7, 11};
  EXPECT_EQ(details_text(recommendation, two_objectives()),
            "tied    trial 1, 2, 3, 4, 5, 6, 8, 9: no measurable difference\n"
            "trade   trial 11: measurably better in cost\n");
  recommendation.tied.push_back(10);
  EXPECT_EQ(line_of(details_text(recommendation, two_objectives()), "tied"),
            "tied    trial 1, 2, 3, 4, 5, 6, 8, 9 and 1 more: no measurable difference");
  recommendation.tied = {7};
  EXPECT_EQ(line_of(details_text(recommendation, two_objectives()), "tied"), "");
  RecommendationContext one = two_objectives();
  one.objectives.pop_back();
  EXPECT_EQ(details_text(recommendation, one), "");
  recommendation.pareto = {7};
  EXPECT_EQ(details_text(recommendation, two_objectives()), "");
}

TEST(Recommendation, SaysWhetherTheTuningPaysInOneRun) {
  Recommendation recommendation = faster();
  const auto cost = [&] {
    return line_of(recommendation_text(recommendation, two_objectives()), "cost");
  };
  recommendation.payback_share = 1.0;
  EXPECT_EQ(cost(), "cost    14 min 20 s, $0.29; paid back after 100 % of the planned run");
  recommendation.payback_share = 1.01;
  EXPECT_EQ(cost(), "cost    14 min 20 s, $0.29; not paid back by one planned run");
  recommendation.payback_share.reset();
  recommendation.tuning_usd = 0.0;
  EXPECT_EQ(cost(), "cost    14 min 20 s");
  RecommendationContext context = two_objectives();
  EXPECT_FALSE(recommendation_json(recommendation, context).contains("tuning_machine_hours"));
  context.machine_hours = 0.87;
  EXPECT_EQ(line_of(recommendation_text(recommendation, context), "cost"),
            "cost    14 min 20 s, 0.87 machine-hours");
  EXPECT_EQ(recommendation_json(recommendation, context)["tuning_machine_hours"], 0.87);
}

TEST(Recommendation, JsonHasEverythingInTheText) {
  Recommendation recommendation = faster();
  recommendation.tied = {3};
  recommendation.pareto = {4};
  recommendation.notes = {Note{"a note"}};
  recommendation.least_samples_ratio = 1.0;
  recommendation.most_samples_ratio = 2.0;
  const Json json = recommendation_json(recommendation, two_objectives());
  EXPECT_EQ(json["trial"], 7);
  EXPECT_EQ(json["outcome"], "faster");
  EXPECT_EQ(json["verdict"], "2.13 times as fast (95 % interval 2.05-2.21, 3 launches each)");
  EXPECT_EQ(json["changes"][0]["edit"], "--workers 6");
  EXPECT_EQ(json["configuration"], Json::parse(R"({"batch_size": 256, "workers": 6})"));
  EXPECT_EQ(json["objectives"][0]["best"], 69'480.0) << "in seconds";
  EXPECT_EQ(json["objectives"][1]["metric"], "cost");
  EXPECT_EQ(json["objectives"][1]["unit"], "USD");
  EXPECT_EQ(json["objectives"][1]["baseline"], 49.93);
  EXPECT_EQ(json["objectives"][1]["best"], 23.39);
  EXPECT_TRUE(json["objectives"][1]["best_half_width_95"].is_null());
  EXPECT_EQ(json["speed_up"]["pairs"], 3);
  EXPECT_TRUE(json["speed_up"]["repeat_low_95"].is_null()) << "not known";
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
