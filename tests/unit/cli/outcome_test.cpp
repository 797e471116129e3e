// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/outcome.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "tests/support/golden_file.hpp"
#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/recommendation.hpp"

namespace steptune {
namespace {

constexpr double k_inf = std::numeric_limits<double>::infinity();

/// A result and its outcome. `name`: name of the file with the expected text.
struct OutcomeCase {
  std::string name;
  StudyOutcome outcome = StudyOutcome::faster;
  Recommendation recommendation;
  RecommendationContext context;
};

SettingChange workers_change() {
  return {"num_workers", Value{std::int64_t{0}}, Value{std::int64_t{6}}, "train.py:114",
          "DataLoader(..., num_workers=6)"};
}

Recommendation result(Claim claim, const SpeedUp& speed_up) {
  Recommendation recommendation;
  recommendation.incumbent_trial = 7;
  recommendation.claim = claim;
  recommendation.speed_up = speed_up;
  recommendation.baseline_objectives = {148'320.0, 49.93};
  recommendation.incumbent_objectives = {69'480.0, 23.39};
  recommendation.tuning_s = 180.0;
  recommendation.tuning_usd = 0.29;
  recommendation.payback_share = 0.012;
  return recommendation;
}

/// Returns a result that keeps the current settings, after fresh runs of trial 9.
Recommendation kept(Verdict verdict, const SpeedUp& speed_up) {
  Recommendation recommendation = result(Claim::nothing_faster, {});
  recommendation.incumbent_trial = 1;
  recommendation.finalists = {{9, verdict, speed_up}};
  return recommendation;
}

RecommendationContext hooked_program() {
  RecommendationContext context{"train", {planned_time(), planned_cost()}, {"num_workers"}};
  context.hooked = true;
  context.command = "python3 train.py --epochs 90";
  context.changes = {workers_change()};
  context.pair_s = 40.0;
  context.rerun = "steptune run train.study.json";
  return context;
}

/// Returns each outcome once, with its variants.
std::vector<OutcomeCase> outcome_cases() {
  using enum StudyOutcome;
  const SpeedUp clear{2.13, 2.05, 2.21, 3, 2.05};
  const RecommendationContext context = hooked_program();
  RecommendationContext attached = context;
  attached.attached = true;
  attached.rerun.clear();
  RecommendationContext cost = context;
  cost.objectives = {planned_cost()};
  RecommendationContext alone = context;
  alone.others_measured = false;
  std::vector<OutcomeCase> cases{
      {"faster", faster, result(Claim::faster, clear), context},
      {"faster-attached", faster, result(Claim::faster, clear), attached},
      {"faster-cost", faster, result(Claim::faster, clear), cost},
      {"faster-wide", faster, result(Claim::faster, {2.4, 1.2, 4.8, 2, 1.2}), context},
      {"within_limits", within_limits, result(Claim::feasible, {0.97, 0.93, 1.01, 3, 0.93}),
       context},
      {"unconfirmed", unconfirmed, result(Claim::unconfirmed, {1.5, 1.4, 1.6, 0, 1.4}), context},
      {"undecided", undecided, kept(Verdict::open, {1.47, 0.67, 3.25, 2, 0.67, k_nan, k_nan, 7.0}),
       context},
      {"undecided-attached", undecided,
       kept(Verdict::open, {1.47, 0.67, 3.25, 1, 0.67, k_nan, k_nan, 4.0}), attached},
      {"undecided-slower", undecided, kept(Verdict::open, {0.92, 0.71, 1.2, 2, 0.71}), context},
      {"undecided-search", undecided, result(Claim::unconfirmed, {1.2, 0.016, 84.5, 0, 0.016}),
       context},
      {"baseline_only", baseline_only, result(Claim::nothing_faster, {}), alone},
      {"hidden_by_buffer", hidden_by_buffer, kept(Verdict::hidden, {1.35, 1.2, 1.5, 3, 0.9}),
       context},
      {"not_faster", not_faster, kept(Verdict::not_faster, {1.02, 0.98, 1.06, 3, 0.98}), context},
      {"not_faster-cost", not_faster, kept(Verdict::not_faster, {1.02, 0.98, 1.06, 3, 0.98}), cost},
      {"not_faster-wide", not_faster, kept(Verdict::not_faster, {1.02, 0.3, 3.1, 3, 0.3}), context},
      {"failed_again", failed_again, kept(Verdict::failed, {k_nan, k_nan, k_nan}), context},
      {"nothing_faster", nothing_faster, result(Claim::nothing_faster, {}), context},
      {"nothing_to_gain", nothing_to_gain, result(Claim::nothing_to_gain, {}), context},
      {"not_compared", not_compared, result(Claim::unconfirmed, {}), context},
  };
  (cases.end() - 2)->recommendation.worth = 0.05;
  cases.back().recommendation.baseline_objectives.clear();
  cases.back().recommendation.payback_share.reset();
  return cases;
}

std::string read_golden(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class EveryOutcome : public ::testing::TestWithParam<OutcomeCase> {};

TEST_P(EveryOutcome, HasItsOwnSentenceAndNextStep) {
  const OutcomeCase& one = GetParam();
  EXPECT_EQ(to_text(outcome_of(one.recommendation, one.context.others_measured)),
            to_text(one.outcome));
  const std::string file =
      std::string(STEPTUNE_SOURCE_DIR) + "/tests/unit/cli/verdicts/" + one.name + ".txt";
  const std::string text = recommendation_text(one.recommendation, one.context);
  if (testing::updating_golden_files()) return testing::write_text(file, text);
  EXPECT_EQ(text, read_golden(file));
}

TEST_P(EveryOutcome, TakesFiveLinesAndPrintsNoUselessInterval) {
  const std::string text = recommendation_text(GetParam().recommendation, GetParam().context);
  EXPECT_LE(std::ranges::count(text, '\n'), 5) << text;
  for (const char* useless : {"0.016", "3.25", "4.80", "nan", "inf"})
    EXPECT_EQ(text.find(useless), std::string::npos) << text;
}

TEST_P(EveryOutcome, NamesChangesOnlyIfItRecommendsThem) {
  const OutcomeCase& one = GetParam();
  const std::string text = recommendation_text(one.recommendation, one.context);
  EXPECT_EQ(text.find("change  ") != std::string::npos, changes_settings(one.outcome)) << text;
  EXPECT_EQ(text.find("steptune exec") != std::string::npos,
            one.outcome == StudyOutcome::faster || one.outcome == StudyOutcome::within_limits)
      << text;
}

INSTANTIATE_TEST_SUITE_P(Outcomes, EveryOutcome, ::testing::ValuesIn(outcome_cases()),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(UsefulInterval, IsNoWiderThanAFactorOfTwo) {
  EXPECT_TRUE(is_useful_interval({2.13, 2.05, 2.21, 3}));
  EXPECT_TRUE(is_useful_interval({1.4, 1.0, 2.0, 3}));
  EXPECT_FALSE(is_useful_interval({1.4, 0.9, 2.0, 3}));
  EXPECT_FALSE(is_useful_interval({1.4, 1.0, k_inf, 1}));
  EXPECT_FALSE(is_useful_interval({}));
}

TEST(Comparison, SpeaksOfTheObjective) {
  const Objective cost = planned_cost().objective;
  EXPECT_EQ(comparison_text(2.0, planned_time().objective), "2.00 times as fast");
  EXPECT_EQ(comparison_text(2.0, cost), "50 % cheaper");
  EXPECT_EQ(comparison_text(0.8, cost), "25 % dearer");
  EXPECT_EQ(comparison_text(213.0, Objective{"accuracy", Direction::maximize}),
            "213 times as good in accuracy");
  EXPECT_EQ(interval_text({2.0, 1.6, 2.5, 3}, cost), "95 % interval 38-60 %");
  EXPECT_EQ(interval_text({1.02, 0.98, 1.06, 3}, cost), "95 % interval -2 to 6 %");
  EXPECT_EQ(speed_up_text({k_nan, k_nan, k_nan, 2}, Objective{"gap", Direction::minimize}, false),
            "better (2 launches each)")
      << "values that are not positive have no ratio";
}

}  // namespace
}  // namespace steptune
