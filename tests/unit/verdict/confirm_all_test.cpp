// SPDX-License-Identifier: Apache-2.0
// Tests studies that confirm each configuration, in both directions.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

/// Returns a study of three configurations that is limited to ten minutes, with a margin of 2 %.
StudySpec judged_study() {
  const Json document = parse_json(R"({
    "name": "s", "command": ["train", "{x}"],
    "parameters": {"x": {"type": "int", "low": 1, "high": 3}}, "baseline": {"x": 1},
    "search": {"searcher": "grid", "scheduler": "none", "worth": 0.02},
    "budget": {"time": "10m"}, "measure": {"confirm_all": true}, "runner": {"type": "local"}
  })",
                                   "study")
                            .value();
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

class ConfirmAllTest : public ::testing::Test {
 protected:
  ConfirmAllTest() { trials_.front().purpose = TrialPurpose::baseline; }

  Confirmation confirmation() {
    standing_.emplace(ranking_rules(study_), trials_);
    return {study_, *standing_};
  }
  /// Makes the requested runs, at most `most`, with `value` of their `x`. Returns each `x`.
  template <typename Value>
  std::vector<std::int64_t> run(const Value& value, std::size_t most) {
    std::vector<std::int64_t> order;
    while (order.size() < most) {
      const auto step = confirmation().next_step({true, 3});
      if (!step) break;
      const auto x = std::get<std::int64_t>(*step->configuration.find("x"));
      const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
      order.push_back(x);
      trials_.push_back(confirming(number, step->purpose, step->round, x, value(x), 0.002));
    }
    return order;
  }
  std::vector<Verdict> verdicts() {
    std::vector<Verdict> verdicts;
    const Confirmation done = confirmation();
    for (const Finalist& finalist : done.finalists())
      verdicts.push_back(finalist.verdict);
    return verdicts;
  }

  StudySpec study_ = judged_study();
  std::vector<TrialRecord> trials_{completed(1, 1.0, 0.01), completed(2, 1.5, 0.01),
                                   completed(3, 0.8, 0.01)};
  std::optional<Standing> standing_;
};

TEST_F(ConfirmAllTest, ASlowerConfigurationRunsInEveryRound) {
  const auto order = run([](std::int64_t x) { return x == 2 ? 1.5 : x == 3 ? 0.8 : 1.0; }, 100);
  EXPECT_THAT(order, ElementsAre(2, 3, 1, 1, 3, 2, 2, 3, 1));
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::slower, Verdict::faster));
  const Confirmation done = confirmation();
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_NEAR(done.winner()->speed_up.ratio, 1.25, 1e-9);
}

TEST_F(ConfirmAllTest, WithinTheMarginIsATie) {
  const auto order = run([](std::int64_t x) { return x == 2 ? 1.004 : x == 3 ? 0.8 : 1.0; }, 100);
  EXPECT_LT(order.size(), 100U);
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::tied, Verdict::faster));
}

/// The search's trials and the fresh runs have reported the loss after 100 samples.
TEST_F(ConfirmAllTest, AFasterConfigurationWithAWorseLossDoesNotWin) {
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = 100.0;
  guard.max_ratio_to_baseline = 1.02;
  guard.over_launches = true;
  study_.guards = {guard};
  run([](std::int64_t x) { return x == 2 ? 1.5 : x == 3 ? 0.8 : 1.0; }, 100);
  for (TrialRecord& trial : trials_) {
    const bool is_worse = std::get<std::int64_t>(*trial.configuration.find("x")) != 1;
    trial.measurement = steady(0.1);
    trial.measurement->metrics["loss@100"] = is_worse ? 2.2 : 2.0;
    trial.measurement->metric_errors["loss@100"] = 0.01;
  }
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::slower, Verdict::worse));
  EXPECT_EQ(confirmation().winner(), nullptr);
}

/// The configurations are 3.5 % slower. A few runs show that they are slower; more runs are needed
/// to show that they are slower by 3 %.
TEST_F(ConfirmAllTest, ASlowdownIsFollowedToItsLimit) {
  const auto value = [](std::int64_t x) { return x == 1 ? 1.0 : 1.035; };
  const auto known = [&](double slowdown) {
    study_.measure.confirm_slowdown = slowdown;
    trials_.resize(3);
    run(value, 200);
    EXPECT_THAT(verdicts(), ElementsAre(Verdict::slower, Verdict::slower));
    return trials_.size();
  };
  const std::size_t soon = known(0.0);
  EXPECT_GT(known(0.03), soon);
}

TEST_F(ConfirmAllTest, WithoutATimeLimitAnOpenSlowdownLimitEnds) {
  study_.budget.time_s.reset();
  study_.measure.confirm_slowdown = 0.03;
  Rng rng(9, "launches", 0);
  const auto value = [&](std::int64_t x) {
    return (x == 1 ? 1.0 : 1.03) * std::exp(0.003 * rng.normal());
  };
  EXPECT_LT(run(value, 200).size(), 200U);
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::slower, Verdict::slower));
}

TEST_F(ConfirmAllTest, TheSearchAloneNeverDecidesThatNothingIsToBeGained) {
  trials_[2].objectives = {1.4};
  const Confirmation open = confirmation();
  EXPECT_FALSE(nothing_to_gain(study_, *standing_, open));
}

TEST_F(ConfirmAllTest, AnUndecidedConfigurationContinuesWhileTimeIsLeft) {
  Rng rng(3, "launches", 0);
  const auto noisy = [&](std::int64_t x) { return x == 3 ? 0.8 : std::exp(0.3 * rng.normal()); };
  EXPECT_EQ(run(noisy, 80).size(), 80U);
  EXPECT_EQ(verdicts().front(), Verdict::open);
}

TEST_F(ConfirmAllTest, AFailedConfigurationIsLeftOut) {
  trials_[1].status = TrialStatus::failed;
  trials_[1].objectives.clear();
  const auto order = run([](std::int64_t x) { return x == 3 ? 0.8 : 1.0; }, 100);
  EXPECT_THAT(order, ElementsAre(3, 1, 1, 3, 3, 1));
}

/// At most one in twenty studies of equal commands may find a difference, however much their
/// launches differ.
TEST_F(ConfirmAllTest, EqualConfigurationsAreRarelyCalledDifferent) {
  constexpr int k_studies = 200;
  const std::vector<TrialRecord> searched = trials_;
  for (const double variation : {0.03, 0.1}) {
    int wrong = 0;
    for (int seed = 0; seed < k_studies; ++seed) {
      Rng rng(5, "launches", static_cast<std::uint64_t>(seed));
      trials_ = searched;
      run([&](std::int64_t) { return std::exp(variation * rng.normal()); }, 60);
      for (const Verdict verdict : verdicts()) {
        if (verdict != Verdict::faster && verdict != Verdict::slower) continue;
        ++wrong;
        break;
      }
    }
    EXPECT_LE(wrong, 0.05 * k_studies + 2.0 * std::sqrt(0.05 * k_studies)) << variation;
  }
}

/// A campaign needs more evidence for "faster" than for the other verdicts.
TEST_F(ConfirmAllTest, ASmallerErrorOfFasterNeedsMoreRuns) {
  const auto runs_until = [&](double error, double time) {
    const std::vector<TrialRecord> searched = trials_;
    study_.measure.confirm_error = error;
    Rng rng(7, "launches", 0);
    const auto runs = run(
        [&](std::int64_t x) {
          return (x == 3 ? time : x == 2 ? 1.5 : 1.0) * std::exp(0.01 * rng.normal());
        },
        200);
    const auto ended = std::pair(runs.size(), verdicts().back());
    trials_ = searched;
    return ended;
  };
  const auto [usual, verdict] = runs_until(k_one_sided_error, 0.94);
  const auto [strict, strict_verdict] = runs_until(1e-5, 0.94);
  EXPECT_EQ(verdict, Verdict::faster);
  EXPECT_EQ(strict_verdict, Verdict::faster);
  EXPECT_GT(strict, usual);
  EXPECT_EQ(runs_until(1e-5, 1.06), runs_until(k_one_sided_error, 1.06));
}

/// Returns the half-width of the first finalist's interval after three pairs of these times.
double half_width_of_three(const StudySpec& study, double second_s, double third_s) {
  const TrialRecord baseline = completed(1, 1.0);
  const std::vector<TrialRecord> runs{completed(2, 1.0), completed(3, second_s),
                                      completed(4, third_s)};
  std::vector<RunPair> pairs;
  for (const TrialRecord& run : runs)
    pairs.push_back({&run, &baseline});
  return statistics_of(study, pairs, k_launches_by_pairs).half_width(k_one_sided_error);
}

TEST_F(ConfirmAllTest, EarlierJudgementsNarrowTheInterval) {
  StudySpec informed = study_;
  informed.measure.pair_deviation = 0.01;
  informed.measure.pair_freedom = 30.0;
  const double alone = half_width_of_three(study_, 1.01, 0.99);
  EXPECT_LT(half_width_of_three(informed, 1.01, 0.99), 0.8 * alone);
  // The machine has changed, so only the present pairs count.
  EXPECT_DOUBLE_EQ(half_width_of_three(informed, 1.1, 0.9), half_width_of_three(study_, 1.1, 0.9));
}

}  // namespace
}  // namespace steptune
