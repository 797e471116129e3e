// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/counted_runs.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/pair_error.hpp"

namespace steptune {
namespace {

constexpr auto k_a = TrialPurpose::confirm_incumbent;
constexpr auto k_b = TrialPurpose::confirm_baseline;
constexpr double k_error = 0.025;

/// Fixture: times of the search's trials by `x`, and of their fresh runs.
class ConfirmTest : public ::testing::Test {
 protected:
  ConfirmTest() { trials_.front().purpose = TrialPurpose::baseline; }

  std::optional<ConfirmStep> next(ConfirmLimits limits = {true, 3}) {
    standing_.emplace(ranking_rules(study_), trials_);
    return Confirmation(study_, *standing_).next_step(limits);
  }
  /// Makes all requested runs, with `value` of their `x`. Returns the `x` of each run, in order.
  template <typename Value>
  std::vector<std::int64_t> run(const Value& value, ConfirmLimits limits = {true, 3}) {
    std::vector<std::int64_t> order;
    while (const auto step = next(limits)) {
      const auto x = std::get<std::int64_t>(*step->configuration.find("x"));
      const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
      order.push_back(x);
      trials_.push_back(confirming(number, step->purpose, step->round, x, value(x), 0.01));
      if (order.size() > 100) break;
    }
    return order;
  }
  /// Makes the next requested run, which must be `x`, with `disturbed_s` of ten seconds disturbed.
  void disturbed_run(std::int64_t x, double value, double disturbed_s = 4.0) {
    const auto step = next();
    ASSERT_TRUE(step);
    ASSERT_EQ(std::get<std::int64_t>(*step->configuration.find("x")), x);
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    trials_.push_back(confirming(number, step->purpose, step->round, x, value, 0.01));
    trials_.back().spent_s = 10.0;
    trials_.back().disturbed_s = disturbed_s;
  }
  [[nodiscard]] Confirmation confirmation() {
    standing_.emplace(ranking_rules(study_), trials_);
    return {study_, *standing_};
  }

  StudySpec study_ = time_study();
  std::vector<TrialRecord> trials_{completed(1, 4.0, 0.01), completed(2, 2.0, 0.01)};
  std::optional<Standing> standing_;
};

TEST_F(ConfirmTest, RunsTakeTurnsForwardsAndBackwards) {
  const auto order = run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  EXPECT_THAT(order, ::testing::ElementsAre(2, 1, 1, 2, 2, 1));
  const Confirmation done = confirmation();
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_EQ(done.winner()->pairs.size(), 3U);
  EXPECT_NEAR(done.winner()->speed_up.ratio, 2.0, 1e-12);
}

TEST_F(ConfirmTest, TheNextBestFollowsAFinalistThatIsNotFaster) {
  trials_.push_back(completed(3, 3.0, 0.01));
  const auto order = run([](std::int64_t x) { return x == 3 ? 3.0 : 4.0; });
  const Confirmation done = confirmation();
  ASSERT_EQ(done.finalists().size(), 2U);
  EXPECT_EQ(done.finalists()[0].verdict, Verdict::not_faster);
  EXPECT_EQ(done.finalists()[1].verdict, Verdict::faster);
  EXPECT_EQ(done.winner()->configuration, trials_[2].configuration);
  EXPECT_LT(order.size(), 20U);
}

TEST_F(ConfirmTest, TheConfigurationInUseRunsItsRoundsEvenIfSlower) {
  study_.measure.in_use = ConfigurationInUse{trials_[1].configuration, 1};
  const auto value = [](std::int64_t x) { return x == 1 ? 4.0 : x == 2 ? 4.4 : 2.0; };
  trials_[1].objectives = {4.4};
  EXPECT_THAT(run(value), ::testing::ElementsAre(2, 1)) << "although it is slower";
  EXPECT_THAT(run(value), ::testing::IsEmpty());
  study_.measure.in_use->rounds = 3;
  EXPECT_THAT(run(value), ::testing::ElementsAre(1, 2, 2, 1));
  trials_.push_back(completed(static_cast<std::int64_t>(trials_.size()) + 1, 2.0, 0.01));
  trials_.back().configuration.set("x", std::int64_t{3});
  const auto order = run(value);
  EXPECT_THAT(order, ::testing::ElementsAre(3, 2, 1, 2, 3, 1, 1, 3, 2))
      << "each round of the challenger includes the configuration in use";
  EXPECT_EQ(confirmation().winner()->configuration, trials_[8].configuration);
}

TEST_F(ConfirmTest, AFailedFinalistMakesRoomForTheNext) {
  trials_.push_back(completed(3, 3.0, 0.01));
  trials_.push_back(confirming(4, k_a, 1, 2, 2.0, 0.01));
  trials_.back().status = TrialStatus::failed;
  const auto step = next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->configuration, trials_[2].configuration);
}

TEST_F(ConfirmTest, AStoppedTrialReplacesARefutedFinalist) {
  trials_.push_back(completed(3, 3.0, 0.02));
  trials_.push_back(completed(4, 3.95, 0.05));
  trials_[2].status = trials_[3].status = TrialStatus::stopped_early;
  const auto order = run([](std::int64_t x) { return x == 3 ? 3.0 : 4.0; });
  EXPECT_THAT(order, ::testing::Contains(3));
  EXPECT_THAT(order, ::testing::Not(::testing::Contains(4))) << "it is not certainly ahead";
  const Confirmation done = confirmation();
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_EQ(standing_->best_of(done.winner()->configuration)->number, 3);
}

TEST_F(ConfirmTest, StoppedTrialsAreConfirmedIfAllOthersViolateALimit) {
  trials_ = {completed(1, 5.0, 0.01), completed(2, 3.0, 0.01), completed(3, 2.0, 0.01),
             completed(4, 4.0, 0.01)};
  trials_[0].purpose = TrialPurpose::baseline;
  trials_[0].status = trials_[3].status = TrialStatus::infeasible;
  trials_[1].status = trials_[2].status = TrialStatus::stopped_early;
  auto step = next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->configuration, trials_[2].configuration);
  trials_.push_back(confirming(5, k_a, 1, 3, 2.0, 0.01));
  trials_.back().status = TrialStatus::infeasible;
  step = next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->configuration, trials_[1].configuration);
  EXPECT_FALSE(confirmation().winner());
  run([](std::int64_t x) { return x == 1 ? 5.0 : 3.0; });
  const Confirmation done = confirmation();
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_EQ(done.winner()->configuration, trials_[1].configuration);
}

TEST_F(ConfirmTest, AFailedRunIsNotReplacedWithoutBudget) {
  trials_.push_back(completed(3, 3.0, 0.01));
  EXPECT_TRUE(next({false, 1})) << "the first run is begun whatever the limits";
  trials_.push_back(confirming(4, k_a, 1, 2, 2.0, 0.01));
  trials_.back().status = TrialStatus::failed;
  EXPECT_FALSE(next({false, 1}));
  EXPECT_TRUE(next({true, 1}));
}

TEST_F(ConfirmTest, CountsTheRunsOfARound) {
  EXPECT_EQ(confirmation().runs_in_next_round(), 2U);
  trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
  EXPECT_EQ(confirmation().runs_left_in_round(trials_.back()), 2U);
  trials_.push_back(confirming(4, k_b, 1, 1, 4.0, 0.01));
  EXPECT_EQ(confirmation().runs_left_in_round(trials_.back()), 1U);
  study_.measure.in_use = ConfigurationInUse{trials_[1].configuration, 3};
  EXPECT_EQ(confirmation().runs_in_next_round(), 2U) << "the configuration in use is the finalist";
  trials_.push_back(completed(5, 1.0, 0.01));
  EXPECT_EQ(confirmation().runs_in_next_round(), 3U);
}

TEST_F(ConfirmTest, ABaselineThatFailsOnceIsRunAgainAndNotAThirdTime) {
  for (const bool baseline_first : {false, true}) {
    trials_.resize(2);
    if (baseline_first) {
      trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
      trials_.push_back(confirming(4, k_b, 1, 1, 4.0, 0.01));
    }
    const int round = baseline_first ? 2 : 1;
    if (!baseline_first) trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
    for (int failure = 0; failure < 2; ++failure) {
      const auto step = next();
      ASSERT_TRUE(step) << failure;
      EXPECT_EQ(step->purpose, k_b);
      EXPECT_EQ(step->round, round);
      const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
      trials_.push_back(confirming(number, k_b, round, 1, 4.0, 0.01));
      trials_.back().status = TrialStatus::failed;
      trials_.back().objectives.clear();
    }
    EXPECT_FALSE(next());
    EXPECT_TRUE(confirmation().baseline_failed());
    trials_.pop_back();
    run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
    ASSERT_NE(confirmation().winner(), nullptr) << "the other one was measured";
    EXPECT_EQ(confirmation().winner()->pairs.size(), 3U);
  }
}

TEST_F(ConfirmTest, ADriftThatShowsLaterChangesNothingThatWasProven) {
  run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  const SpeedUp before = confirmation().winner()->speed_up;
  for (int later = 1; later <= 4; ++later) {
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    trials_.push_back(confirming(number, TrialPurpose::sentinel, 0, 1, 4.0 + later, 0.01));
  }
  const Confirmation after = confirmation();
  ASSERT_TRUE(standing_->drift().is_significant());
  ASSERT_NE(after.winner(), nullptr);
  EXPECT_EQ(after.winner()->speed_up.low, before.low);
  EXPECT_EQ(after.winner()->speed_up.high, before.high);
}

TEST_F(ConfirmTest, ABaselineThatDriftsDoesNotMakePairsLookSimilar) {
  run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  const SpeedUp of_pairs_alone = confirmation().winner()->speed_up;
  const auto first_pair = std::ranges::find(trials_, k_a, &TrialRecord::purpose);
  std::vector<TrialRecord> sentinels;
  for (int later = 1; later <= 4; ++later)
    sentinels.push_back(confirming(100 + later, TrialPurpose::sentinel, 0, 1, 4.0 + later, 0.01));
  trials_.insert(first_pair, sentinels.begin(), sentinels.end());
  const Confirmation done = confirmation();
  ASSERT_TRUE(standing_->drift().is_significant());
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_EQ(done.winner()->speed_up.low, of_pairs_alone.low);
}

TEST_F(ConfirmTest, TiedFinalistsShareOneBaseline) {
  trials_.push_back(completed(3, 2.01, 0.01));
  const auto value = [](std::int64_t x) { return x == 1 ? 4.0 : 2.0; };
  EXPECT_THAT(run(value), ::testing::ElementsAre(2, 3, 1, 1, 3, 2, 2, 3, 1));
}

TEST_F(ConfirmTest, ABudgetThatIsSpentEndsAfterARound) {
  const auto order = run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; }, {false, 1});
  EXPECT_THAT(order, ::testing::ElementsAre(2, 1)) << "the first round is always run";
}

TEST_F(ConfirmTest, ADisturbedRunIsRepeatedAfterTheRound) {
  disturbed_run(2, 3.0);
  const auto order = run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 1, 2, 2, 1));
  const Confirmation done = confirmation();
  ASSERT_NE(done.winner(), nullptr);
  EXPECT_EQ(done.winner()->pairs.size(), 3U);
  EXPECT_NEAR(done.winner()->speed_up.ratio, 2.0, 1e-12) << "without the disturbed run";
}

TEST_F(ConfirmTest, ADisturbedRunStaysIfTheBudgetIsSpent) {
  disturbed_run(2, 3.0);
  EXPECT_THAT(run([](std::int64_t) { return 4.0; }, {false, 3}), ::testing::ElementsAre(1));
}

TEST_F(ConfirmTest, TheLessDisturbedOfTwoRunsCounts) {
  for (int i = 0; i < 4; ++i)
    trials_.push_back(confirming(3 + i, i % 2 == 0 ? k_a : k_b, 1 + i / 2, i % 2 == 0 ? 2 : 1,
                                 i % 2 == 0 ? 2.0 : 4.0, 0.01));
  disturbed_run(2, 2.5);
  trials_.push_back(confirming(8, k_b, 3, 1, 4.0, 0.01));
  disturbed_run(2, 9.0, 6.0);
  EXPECT_FALSE(next()) << "once more is enough";
  EXPECT_EQ(confirmation().finalists()[0].pairs[2].incumbent->objectives[0], 2.5);
}

TEST_F(ConfirmTest, RunsDisturbedForARoundAreRepeatedLater) {
  disturbed_run(2, 3.0);
  disturbed_run(1, 6.0);
  const auto order = run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 2, 1, 2, 1))
      << "two quiet rounds, then a repetition of the first";
  EXPECT_NEAR(confirmation().winner()->speed_up.ratio, 2.0, 1e-12);
}

TEST_F(ConfirmTest, LoadThatIsAlwaysThereDoesNotCountAsADisturbance) {
  for (int round = 1; round <= 3; ++round) {
    disturbed_run(round == 2 ? 1 : 2, round == 2 ? 4.0 : 2.0);
    disturbed_run(round == 2 ? 2 : 1, round == 2 ? 2.0 : 4.0);
  }
  EXPECT_FALSE(next());
}

TEST_F(ConfirmTest, ABestBaselineNeedsNoConfirmation) {
  trials_[1].objectives[0] = 4.5;
  EXPECT_FALSE(next());
}

TEST_F(ConfirmTest, FinalistsOfShortProgramsMayTrailTheBaseline) {
  trials_[1].objectives[0] = 4.1;
  for (TrialRecord& trial : trials_) {
    trial.measurement = steady(trial.objectives[0] / 1000.0);
    trial.measurement->whole_run = true;
    trial.measurement->status = MeasurementStatus::warming_up;
  }
  const auto order = run([](std::int64_t x) { return x == 1 ? 4.0 : 3.0; });
  EXPECT_GE(order.size(), 6U);
  ASSERT_NE(confirmation().winner(), nullptr);
  trials_.resize(2);
  trials_.push_back(trials_[0]);
  trials_.back().number = 3;
  trials_.back().purpose = TrialPurpose::search;
  trials_.back().objectives[0] = 3.9;
  EXPECT_TRUE(next()) << "the search's own run of the baseline is the best";
  trials_.resize(2);
  trials_[1].objectives[0] = 6.0;
  EXPECT_FALSE(next()) << "clearly slower";
}

TEST_F(ConfirmTest, FinalistsOfShortProgramsPreferSmallerBatches) {
  // Batches of 16 for x = 2, and of 64 otherwise.
  study_.planned_run.batch_size = document::Formula("b", [](const Configuration& configuration) {
    return to_number(*configuration.find("x")) == 2.0 ? 16.0 : 64.0;
  });
  trials_[1].objectives[0] = 4.05;
  trials_.push_back(completed(3, 4.1, 0.01));
  for (TrialRecord& trial : trials_) {
    trial.measurement = steady(trial.objectives[0] / 1000.0);
    trial.measurement->whole_run = true;
    trial.measurement->status = MeasurementStatus::warming_up;
  }
  const std::vector<Configuration> both{trials_[1].configuration, trials_[2].configuration};
  EXPECT_EQ(confirmation().contenders(3), both) << "the preferred configuration first";
  EXPECT_EQ(confirmation().contenders(1).size(), 1U);
  trials_[1].objectives[0] = 3.95;
  EXPECT_EQ(confirmation().contenders(3).size(), 1U) << "the baseline is not the best";
  trials_[1].objectives[0] = 4.05;
  trials_[0].measurement->status = MeasurementStatus::steady;
  EXPECT_TRUE(confirmation().contenders(3).empty())
      << "one launch of a steady baseline is enough, and the baseline has the fewest changes";
}

TEST_F(ConfirmTest, ABaselineThatViolatesAGuardStillCounts) {
  trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
  trials_.push_back(confirming(4, k_b, 1, 1, 4.0, 0.01));
  trials_.back().status = TrialStatus::infeasible;
  EXPECT_TRUE(next());
  EXPECT_EQ(confirmation().finalists()[0].pairs.size(), 1U);
}

TEST_F(ConfirmTest, ContinuesWhileUndecidedAndWithinReach) {
  int run_number = 0;
  const auto noisy = [&](std::int64_t x) {
    ++run_number;
    return (x == 1 ? 4.08 : 4.0) * (run_number % 3 == 0 ? 1.04 : 1.0);
  };
  trials_[1].objectives[0] = 3.9;
  EXPECT_GT(run(noisy).size(), 6U);
  EXPECT_LE(confirmation().finalists()[0].pairs.size(), 12U);
}

TEST_F(ConfirmTest, ZeroPairsConfirmNothing) {
  study_.measure.confirm_pairs = 0;
  EXPECT_FALSE(next());
}

TEST_F(ConfirmTest, AFailureInALaterRoundRefutesItsFinalistAlone) {
  trials_.push_back(completed(3, 2.01, 0.01));
  for (const std::int64_t x : {2, 3})
    trials_.push_back(confirming(2 + x, k_a, 1, x, 2.0, 0.01));
  trials_.push_back(confirming(6, k_b, 1, 1, 4.0, 0.01));
  trials_.push_back(confirming(7, k_b, 2, 1, 4.0, 0.01));
  trials_.push_back(confirming(8, k_a, 2, 3, 2.0, 0.01));
  trials_.push_back(confirming(9, k_a, 2, 2, 2.0, 0.01));
  ASSERT_EQ(confirmation().winner()->configuration, trials_[1].configuration);
  trials_.back().status = TrialStatus::infeasible;
  const Confirmation after = confirmation();
  EXPECT_EQ(after.finalists()[0].verdict, Verdict::failed);
  EXPECT_TRUE(after.finalists()[0].settled);
  EXPECT_EQ(after.finalists()[1].verdict, Verdict::faster);
  EXPECT_EQ(after.winner()->configuration, trials_[2].configuration);
}

TEST_F(ConfirmTest, ARunWithoutAllObjectivesMakesNoPair) {
  trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
  trials_.push_back(confirming(4, k_b, 1, 1, 4.0, 0.01));
  ASSERT_EQ(confirmation().finalists()[0].pairs.size(), 1U);
  trials_[3].objectives.clear();
  EXPECT_TRUE(confirmation().finalists()[0].pairs.empty());
  trials_[3].objectives = {4.0};
  trials_[2].objectives.clear();
  EXPECT_TRUE(confirmation().finalists()[0].pairs.empty());
}

TEST_F(ConfirmTest, ABaselineThatWasNotMeasuredForAGuardHasFailed) {
  trials_.push_back(confirming(3, k_a, 1, 2, 2.0, 0.01));
  for (std::int64_t number = 4; number <= 5; ++number) {
    EXPECT_FALSE(confirmation().baseline_failed());
    trials_.push_back(confirming(number, k_b, 1, 1, 4.0, 0.01));
    trials_.back().status = TrialStatus::infeasible;
    trials_.back().objectives.clear();
  }
  EXPECT_TRUE(confirmation().baseline_failed());
  trials_.back().status = TrialStatus::running;
  EXPECT_FALSE(confirmation().baseline_failed()) << "the baseline may still be measured";
}

TEST_F(ConfirmTest, ALaterFinalistMustBeBetterByThePrecision) {
  trials_.push_back(completed(3, 2.01, 0.01));
  run([](std::int64_t x) { return x == 1 ? 4.0 : x == 2 ? 2.0 : 1.98; });
  EXPECT_EQ(confirmation().winner()->configuration, trials_[1].configuration);
  trials_.resize(3);
  run([](std::int64_t x) { return x == 1 ? 4.0 : x == 2 ? 2.0 : 1.9; });
  EXPECT_EQ(confirmation().winner()->configuration, trials_[2].configuration);
}

TEST_F(ConfirmTest, ContendersAreTiedAndBetterThanTheBaseline) {
  const auto contenders = [&](std::size_t most) {
    std::vector<std::int64_t> result;
    for (const Configuration& configuration : confirmation().contenders(most))
      result.push_back(std::get<std::int64_t>(*configuration.find("x")));
    return result;
  };
  trials_.push_back(completed(3, 2.01, 0.01));
  trials_.push_back(completed(4, 2.01, 0.01));
  trials_.back().configuration = trials_[2].configuration;
  trials_.push_back(completed(5, 2.02, 0.01));
  trials_.push_back(completed(6, 3.0, 0.01));
  EXPECT_THAT(contenders(0), ::testing::IsEmpty());
  EXPECT_THAT(contenders(1), ::testing::ElementsAre(2));
  EXPECT_THAT(contenders(2), ::testing::ElementsAre(2, 3));
  EXPECT_THAT(contenders(9), ::testing::ElementsAre(2, 3, 5)) << "each configuration once";
  trials_.resize(2);
  trials_.push_back(completed(3, 4.1, 3.0));
  EXPECT_THAT(contenders(9), ::testing::ElementsAre(2)) << "tied, but no better than the baseline";
  trials_.erase(trials_.begin());
  EXPECT_THAT(contenders(9), ::testing::IsEmpty()) << "nothing to compare with";
  trials_.clear();
  EXPECT_THAT(contenders(9), ::testing::IsEmpty());
}

TEST_F(ConfirmTest, NoFurtherFinalistRunsAfterAWinner) {
  trials_.push_back(completed(3, 3.0, 0.01));
  run([](std::int64_t x) { return x == 1 ? 4.0 : 2.0; });
  EXPECT_EQ(confirmation().finalists().size(), 1U);
}

TEST_F(ConfirmTest, NoMoreThanThreeTakeTheirTurn) {
  for (std::int64_t x = 3; x <= 6; ++x)
    trials_.push_back(completed(x, 2.0 + 0.2 * static_cast<double>(x), 0.01));
  run([](std::int64_t) { return 4.0; });
  const Confirmation done = confirmation();
  EXPECT_EQ(done.finalists().size(), k_most_finalists);
  EXPECT_FALSE(done.may_confirm_more());
  EXPECT_EQ(done.winner(), nullptr);
}

TEST_F(ConfirmTest, OnlyTrialsBetterThanTheBaselineAreConfirmed) {
  trials_.push_back(completed(3, 4.0, 0.01));
  run([](std::int64_t) { return 4.0; });
  EXPECT_EQ(confirmation().finalists().size(), 1U);
  EXPECT_TRUE(confirmation().may_confirm_more());
}

TEST_F(ConfirmTest, TheBaselineFoundAgainByTheSearchIsNoFinalist) {
  trials_[1].objectives = {3.0};
  trials_.push_back(completed(3, 3.5, 0.01));
  trials_.back().configuration = trials_[0].configuration;
  run([](std::int64_t) { return 4.0; });
  const Confirmation done = confirmation();
  ASSERT_EQ(done.finalists().size(), 1U);
  EXPECT_EQ(done.finalists()[0].configuration, trials_[1].configuration);
}

TEST_F(ConfirmTest, SentinelsShowTheVariationOfLaunches) {
  const auto width_with_sentinels = [&](double low, double high) {
    trials_.resize(2);
    for (std::int64_t i = 0; i < 6; ++i)
      trials_.push_back(
          confirming(3 + i, TrialPurpose::sentinel, 0, 1, i % 2 == 0 ? high : low, 0.01));
    trials_.push_back(confirming(90, k_a, 1, 2, 2.0, 0.01));
    trials_.push_back(confirming(91, k_b, 1, 1, 4.0, 0.01));
    const SpeedUp speed_up = confirmation().finalists()[0].speed_up;
    return std::log(speed_up.high / speed_up.low);
  };
  EXPECT_GT(width_with_sentinels(3.6, 4.4), 1.5 * width_with_sentinels(3.96, 4.04));
}

TEST_F(ConfirmTest, TheFirstOfEquallyDisturbedRunsCounts) {
  for (int i = 0; i < 4; ++i)
    trials_.push_back(confirming(3 + i, i % 2 == 0 ? k_a : k_b, 1 + i / 2, i % 2 == 0 ? 2 : 1,
                                 i % 2 == 0 ? 2.0 : 4.0, 0.01));
  disturbed_run(2, 2.5);
  trials_.push_back(confirming(8, k_b, 3, 1, 4.0, 0.01));
  disturbed_run(2, 9.0);
  EXPECT_EQ(confirmation().finalists()[0].pairs[2].incumbent->objectives[0], 2.5);
  trials_.back().disturbed_s = 0.0;
  trials_.back().status = TrialStatus::running;
  EXPECT_EQ(confirmation().finalists()[0].pairs[2].incumbent->objectives[0], 2.5)
      << "the other run has not ended";
}

TEST_F(ConfirmTest, AFinalistHasALastLookWhenTimeIsOver) {
  const auto measure_three_pairs = [this](double speed_up) {
    trials_.resize(2);
    int pair = 0;
    for (const double by_chance : {0.96, 1.01, 1.03}) {
      ++pair;
      const std::int64_t number = std::int64_t{2} * pair + 1;
      trials_.push_back(confirming(number, k_a, pair, 2, 4.0 * by_chance / speed_up));
      trials_.push_back(confirming(number + 1, k_b, pair, 1, 4.0));
    }
  };
  const auto half_width = [this](bool is_last) {
    const SpeedUp speed_up =
        judge(study_, confirmation().finalists()[0].pairs, 0.75 * k_error, KnownLaunches{}, is_last)
            .speed_up;
    return std::log(speed_up.high / speed_up.ratio);
  };
  measure_three_pairs(1.0);
  ASSERT_LT(half_width(true), 0.95 * half_width(false));
  measure_three_pairs(std::exp(0.5 * (half_width(true) + half_width(false))));
  const Confirmation interrupted = confirmation();
  EXPECT_EQ(interrupted.finalists()[0].verdict, Verdict::open);
  EXPECT_FALSE(interrupted.finalists()[0].settled);
  const Confirmation over(study_, *standing_, true);
  EXPECT_EQ(over.finalists()[0].verdict, Verdict::faster);
  EXPECT_TRUE(over.finalists()[0].settled);
  EXPECT_GT(over.finalists()[0].speed_up.low, 1.0);
}

TEST_F(ConfirmTest, ASettledFinalistHasNoLastLook) {
  // It was given up because of its pairs, so its end is no end by time.
  for (int i = 0; i < 6; ++i)
    trials_.push_back(confirming(3 + i, i % 2 == 0 ? k_a : k_b, 1 + i / 2, i % 2 == 0 ? 2 : 1,
                                 i % 3 == 0 ? 4.4 : 4.0));
  const SpeedUp regular = confirmation().finalists()[0].speed_up;
  ASSERT_TRUE(confirmation().finalists()[0].settled);
  EXPECT_EQ(Confirmation(study_, *standing_, true).finalists()[0].speed_up.low, regular.low);
}

TEST(Refutes, AFreshRunOfAFinalistThatEndedWithoutAMeasurement) {
  TrialRecord run = confirming(3, k_a, 1, 2, 2.0);
  EXPECT_FALSE(refutes(run));
  for (const TrialStatus status : {TrialStatus::launching, TrialStatus::running}) {
    run.status = status;
    EXPECT_FALSE(refutes(run)) << to_text(status);
  }
  for (const TrialStatus status :
       {TrialStatus::failed, TrialStatus::infeasible, TrialStatus::out_of_memory}) {
    run.status = status;
    EXPECT_TRUE(refutes(run)) << to_text(status);
  }
  run.purpose = k_b;
  EXPECT_FALSE(refutes(run)) << "the baseline refutes nothing";
  run.purpose = TrialPurpose::search;
  EXPECT_FALSE(refutes(run));
}

class PairsTest : public ::testing::Test {
 protected:
  std::vector<RunPair> pairs() const {
    std::vector<RunPair> result;
    for (std::size_t i = 0; i + 1 < runs_.size(); i += 2)
      result.push_back({&runs_[i], &runs_[i + 1]});
    return result;
  }
  StudySpec study_ = time_study();
  std::vector<TrialRecord> runs_;
};

TEST_F(PairsTest, GiveTheGeometricMeanWithItsInterval) {
  runs_ = {confirming(1, k_a, 1, 2, 1.0),  confirming(2, k_b, 1, 1, 2.0),
           confirming(3, k_a, 2, 2, 1.0),  confirming(4, k_b, 2, 1, 2.2),
           confirming(5, k_a, 3, 2, 1.05), confirming(6, k_b, 3, 1, 2.1)};
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  EXPECT_EQ(speed_up.pairs, 3);
  EXPECT_NEAR(speed_up.ratio, std::cbrt(2.0 * 2.2 * 2.0), 1e-12);
  const double half_width = PairError({3.0, 0.0060560, 0.0062037}, 0.0, {}).quantile(k_error);
  EXPECT_NEAR(std::log(speed_up.high / speed_up.ratio), half_width, 1e-4);
  EXPECT_NEAR(std::log(speed_up.ratio / speed_up.low), half_width, 1e-4);
  // Another confirmation, of two pairs: 1/3 + 1/2 of a pair's variance.
  const double repeat = half_width * std::sqrt(3.0 * (1.0 / 3.0 + 1.0 / 2.0));
  EXPECT_NEAR(std::log(speed_up.repeat_high / speed_up.ratio), repeat, 1e-4);
  EXPECT_NEAR(std::log(speed_up.ratio / speed_up.repeat_low), repeat, 1e-4);
}

TEST_F(PairsTest, ASinglePairVariesByWholeIntervals) {
  const auto half_width = [this](double step_standard_error) {
    for (TrialRecord& run : runs_) {
      Measurement& measurement = run.measurement.emplace(steady(0.1, 0.0196));
      measurement.step_half_width_s = measurement.half_width_s;
      measurement.step_standard_error_s = step_standard_error;
    }
    return statistics_of(study_, pairs()).half_width(k_error);
  };
  runs_ = {confirming(1, k_a, 1, 2, 1.0, 0.1), confirming(2, k_b, 1, 1, 2.0, 0.2)};
  EXPECT_DOUBLE_EQ(half_width(0.0005), half_width(0.01));
  runs_.push_back(confirming(3, k_a, 2, 2, 1.0, 0.1));
  runs_.push_back(confirming(4, k_b, 2, 1, 2.0, 0.2));
  EXPECT_LT(half_width(0.0005), 0.3 * half_width(0.01));
}

TEST_F(PairsTest, ASinglePairIncludesTheVariationOfLaunches) {
  runs_ = {confirming(1, k_a, 1, 2, 1.0, 0.003), confirming(2, k_b, 1, 1, 2.0, 0.004)};
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  EXPECT_EQ(speed_up.pairs, 1);
  const double within = 0.003 * 0.003 + 0.002 * 0.002;
  EXPECT_NEAR(std::log(speed_up.high / 2.0), PairError({1.0, 0.0}, within, {}).quantile(k_error),
              1e-4);
  EXPECT_GT(std::log(speed_up.high / 2.0), 10.0 * std::sqrt(within));
}

TEST_F(PairsTest, PairsThatABufferExplainsProveNothing) {
  for (int pair = 1; pair <= 3; ++pair) {
    const std::int64_t first = std::int64_t{2} * pair;
    runs_.push_back(confirming(first, k_a, pair, 2, 1.0));
    runs_.back().measurement = steady(0.001);
    runs_.back().measurement->slowest_seconds_per_sample = pair == 2 ? 0.0025 : 0.004;
    runs_.push_back(confirming(first + 1, k_b, pair, 1, 2.0));
  }
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::hidden);
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  EXPECT_NEAR(speed_up.low_if_buffered, speed_up.low / 2.5, 1e-9) << "the best bound counts";
  runs_[0].measurement->slowest_seconds_per_sample = 0.0015;
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(PairsTest, OnePairProvesNothingTwoMayAndMoreAreMorePrecise) {
  for (const TrialsIn processes : {TrialsIn::fresh, TrialsIn::attached}) {
    study_.trials = processes;
    runs_ = {confirming(1, k_a, 1, 2, 1.0, 0.003), confirming(2, k_b, 1, 1, 4.0, 0.004)};
    const Judgement first = judge(study_, pairs(), k_error);
    EXPECT_EQ(first.verdict, Verdict::open);
    EXPECT_FALSE(first.settled);
    runs_.push_back(confirming(3, k_a, 2, 2, 1.0, 0.003));
    runs_.push_back(confirming(4, k_b, 2, 1, 4.0, 0.004));
    const Judgement second = judge(study_, pairs(), k_error);
    EXPECT_EQ(second.verdict, Verdict::faster);
    EXPECT_FALSE(second.settled);
  }
}

TEST_F(PairsTest, OnePairMaySufficeIfTheStudyRequestsOne) {
  study_.measure.confirm_pairs = 1;
  runs_ = {confirming(1, k_a, 1, 2, 1.0, 0.003), confirming(2, k_b, 1, 1, 4.0, 0.004)};
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(PairsTest, OnlyPairsShowHowAMetricDiffersBetweenLaunches) {
  study_.objectives = {{"loss", Direction::minimize}};
  study_.measure.confirm_pairs = 1;
  runs_ = {confirming(1, k_a, 1, 2, 1.0), confirming(2, k_b, 1, 1, 4.0)};
  const Judgement one = judge(study_, pairs(), k_error);
  EXPECT_EQ(one.verdict, Verdict::open) << "one pair may be luck";
  EXPECT_FALSE(one.settled);
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  EXPECT_NEAR(speed_up.ratio, 4.0, 1e-12);
  EXPECT_TRUE(std::isnan(speed_up.low)) << "nothing was measured, so there is no interval";
  runs_.push_back(confirming(3, k_a, 2, 2, 1.0));
  runs_.push_back(confirming(4, k_b, 2, 1, 4.02));
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(PairsTest, AMetricThatOnlyScattersIsClaimedBetterRarely) {
  study_.objectives = {{"loss", Direction::minimize}};
  int claims = 0;
  constexpr int k_studies = 4000;
  for (std::uint64_t seed = 0; seed < k_studies; ++seed) {
    Rng rng(11, "scatter", seed);
    runs_.clear();
    Judgement judgement;
    for (int pair = 1; pair <= 12 && !judgement.settled; ++pair) {
      const auto number = static_cast<std::int64_t>(runs_.size()) + 1;
      runs_.push_back(confirming(number, k_a, pair, 2, 1.0 + 0.1 * rng.normal()));
      runs_.push_back(confirming(number + 1, k_b, pair, 1, 1.0 + 0.1 * rng.normal()));
      judgement = judge(study_, pairs(), k_error);
    }
    claims += judgement.verdict == Verdict::faster ? 1 : 0;
  }
  EXPECT_LT(claims, 0.03 * k_studies);
}

TEST_F(PairsTest, LaunchesOfTheSearchCountToo) {
  for (int pair = 1; pair <= 2; ++pair) {
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, 1.0));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 1.3));
  }
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  const KnownLaunches different{{{0.4, 4.0}, 0.0}};
  EXPECT_EQ(judge(study_, pairs(), k_error, different).verdict, Verdict::open);
}

TEST_F(PairsTest, AClaimIsSettledByLooksAlone) {
  for (int pair = 1; pair <= 5; ++pair) {
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, 1.0));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 2.0));
    const Judgement judgement = judge(study_, pairs(), k_error);
    EXPECT_EQ(judgement.settled, pair == 2 || pair == 3 || pair == 5) << pair;
  }
}

TEST(SpeedUp, AMaximizedMetricIsDividedTheOtherWay) {
  StudySpec study = time_study();
  study.objectives = {{"throughput", Direction::maximize}};
  EXPECT_NEAR(speed_up_of_trials(study, completed(2, 30.0), completed(1, 10.0)).ratio, 3.0, 1e-12);
}

TEST(SpeedUp, IsNanForNonPositiveValues) {
  const SpeedUp speed_up = speed_up_of_trials(time_study(), completed(2, -1.0), completed(1, 1.0));
  EXPECT_TRUE(std::isnan(speed_up.ratio));
}

TEST(SpeedUp, TheBaselineHasNoneOverItself) {
  const TrialRecord baseline = completed(1, 2.0, 0.5);
  EXPECT_TRUE(std::isnan(speed_up_of_trials(time_study(), baseline, baseline).ratio));
}

TEST_F(PairsTest, WithoutPairsNothingIsKnown) {
  const SpeedUp speed_up = speed_up_of_pairs(study_, {}, k_error);
  EXPECT_EQ(speed_up.pairs, 0);
  EXPECT_TRUE(std::isnan(speed_up.ratio));
  const Judgement judgement = judge(study_, {}, k_error);
  EXPECT_EQ(judgement.verdict, Verdict::open);
  EXPECT_FALSE(judgement.settled);
}

TEST_F(PairsTest, PrecisePairsSettleEarly) {
  study_.measure.confirm_pairs = 5;
  study_.measure.target_half_width = 0.3;
  for (int pair = 1; pair <= 2; ++pair) {
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, 1.0));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 4.0));
  }
  EXPECT_TRUE(judge(study_, pairs(), k_error).settled);
  study_.measure.target_half_width = 0.001;
  EXPECT_FALSE(judge(study_, pairs(), k_error).settled);
}

TEST_F(PairsTest, TheUsualNumberOfPairsSettles) {
  study_.measure.target_half_width = 0.001;
  for (int pair = 1; pair <= study_.measure.confirm_pairs; ++pair) {
    EXPECT_FALSE(judge(study_, pairs(), k_error).settled) << pair;
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, 1.0));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 4.0));
  }
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  EXPECT_TRUE(judge(study_, pairs(), k_error).settled);
}

TEST_F(PairsTest, AreGivenUpAfterFourTimesTheUsualNumber) {
  study_.measure.confirm_pairs = 2;
  // The finalist is faster by about as much as its runs scatter. Up to eight pairs neither show a
  // speed-up nor exclude one.
  for (int pair = 1; pair <= 8; ++pair) {
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, pair % 2 == 0 ? 1.0 : 1.1));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 1.095));
  }
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::not_faster);
  EXPECT_TRUE(judge(study_, pairs(), k_error).settled);
  runs_.resize(14);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::open);
}

TEST_F(PairsTest, NonPositiveValuesAreComparedByRelativeDifference) {
  study_.objectives = {{"score", Direction::minimize}};
  runs_ = {confirming(1, k_a, 1, 2, -4.0), confirming(2, k_b, 1, 1, -1.0),
           confirming(3, k_a, 2, 2, -1.0), confirming(4, k_b, 2, 1, 1.0)};
  const PairStatistics statistics = statistics_of(study_, pairs());
  EXPECT_FALSE(statistics.has_ratio);
  EXPECT_DOUBLE_EQ(statistics.mean, 0.5 * (0.75 + 2.0));
  EXPECT_TRUE(std::isnan(speed_up_of_pairs(study_, pairs(), k_error).ratio));
  runs_ = {confirming(1, k_a, 1, 2, 0.0), confirming(2, k_b, 1, 1, 0.0)};
  EXPECT_DOUBLE_EQ(statistics_of(study_, pairs()).mean, 0.0) << "0 equals 0";
}

TEST_F(PairsTest, PairsOfCostsVaryAsPairsOfTimes) {
  runs_ = {confirming(1, k_a, 1, 2, 1.0), confirming(2, k_b, 1, 1, 2.0)};
  const double of_times = statistics_of(study_, pairs()).half_width(k_error);
  study_.objectives = {{"cost", Direction::minimize}};
  EXPECT_DOUBLE_EQ(statistics_of(study_, pairs()).half_width(k_error), of_times);
}

TEST_F(PairsTest, SumsCountUnlessRunsTookTurnsOnADisturbedMachine) {
  const std::vector<double> incumbents{1.0, 1.05, 0.98, 1.02};
  const std::vector<double> baselines{2.0, 2.0, 2.02, 1.94};
  std::vector<double> differences;
  std::vector<double> sums;
  for (std::size_t i = 0; i < incumbents.size(); ++i) {
    const auto pair = static_cast<int>(i) + 1;
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, incumbents[i]));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, baselines[i]));
    differences.push_back(std::log(baselines[i]) - std::log(incumbents[i]));
    sums.push_back(std::log(baselines[i]) + std::log(incumbents[i]));
  }
  const double squares = scatter_of(differences).squares;
  const double with_sums =
      PairError({4.0, squares, scatter_of(sums).squares}, 0.0, {}).quantile(k_error);
  const double without = PairError({4.0, squares}, 0.0, {}).quantile(k_error);
  ASSERT_LT(with_sums, 0.98 * without);
  const auto half_width = [this] { return statistics_of(study_, pairs()).half_width(k_error); };
  EXPECT_NEAR(half_width(), with_sums, 1e-3 * with_sums);
  for (TrialRecord& run : runs_) {
    run.spent_s = 10.0;
    run.disturbed_s = 4.0;
  }
  EXPECT_NEAR(half_width(), with_sums, 1e-3 * with_sums) << "one run after the other";
  for (TrialRecord& run : runs_)
    run.placement[k_interleaved_fact] = "1";
  EXPECT_NEAR(half_width(), without, 1e-3 * without) << "their sums show other programs";
  for (TrialRecord& run : runs_)
    run.disturbed_s = 0.0;
  EXPECT_NEAR(half_width(), with_sums, 1e-3 * with_sums) << "in turns on a quiet machine";
}

TEST_F(PairsTest, AreNoSurerThanEachRunIsWithinItself) {
  for (int pair = 1; pair <= 6; ++pair) {
    runs_.push_back(confirming(std::int64_t{2} * pair, k_a, pair, 2, 1.0, 0.3));
    runs_.push_back(confirming(std::int64_t{2} * pair + 1, k_b, pair, 1, 2.0));
  }
  EXPECT_GE(statistics_of(study_, pairs()).standard_error(), 0.3 / std::sqrt(6.0) - 1e-9);
}

TEST(LeastPairs, AreTwoUnlessTheStudyAsksForOne) {
  StudySpec study = time_study();
  for (const auto& [usual, least] :
       std::vector<std::pair<int, int>>{{0, 1}, {1, 1}, {2, 2}, {3, 2}, {20, 2}}) {
    study.measure.confirm_pairs = usual;
    EXPECT_EQ(least_pairs(study), least) << usual;
  }
  study.trials = TrialsIn::attached;
  study.measure.confirm_pairs = 1;
  EXPECT_EQ(least_pairs(study), 2) << "within a long run one pair is never enough";
}

TEST(SpeedUp, SearchTrialsGiveNoPairs) {
  const SpeedUp speed_up =
      speed_up_of_trials(time_study(), completed(2, 1.0, 0.01), completed(1, 2.0, 0.01));
  EXPECT_NEAR(speed_up.ratio, 2.0, 1e-12);
  EXPECT_LT(speed_up.low, 2.0);
  EXPECT_EQ(speed_up.pairs, 0);
  EXPECT_TRUE(std::isnan(speed_up.repeat_low));
  EXPECT_TRUE(std::isnan(speed_up.repeat_high));
}

TEST(LaunchVariation, LeavesOutWhatOthersDisturbed) {
  std::vector<TrialRecord> trials;
  for (std::int64_t round = 1; round <= 6; ++round)
    trials.push_back(confirming(round, k_b, static_cast<int>(round), 1, 4.0, 0.01));
  const double quiet = estimate_launch_variation(trials, {}).relative;
  trials.back().objectives = {6.0};
  EXPECT_GT(estimate_launch_variation(trials, {}).relative, 3.0 * quiet);
  trials.back().spent_s = 10.0;
  trials.back().disturbed_s = 3.0;
  EXPECT_LT(estimate_launch_variation(trials, {}).relative, 1.2 * quiet);
  for (TrialRecord& trial : trials) {
    trial.spent_s = 10.0;
    trial.disturbed_s = 3.0;
  }
  EXPECT_GT(estimate_launch_variation(trials, {}).relative, 3.0 * quiet)
      << "load that is always there is no disturbance";
}

TEST(LaunchVariation, MovesFromThePriorToTheLaunches) {
  EXPECT_DOUBLE_EQ(estimate_launch_variation({completed(1, 1.0, 0.1)}, {}).relative, 0.015);
  std::vector<TrialRecord> trials;
  for (int i = 1; i <= 40; ++i)
    trials.push_back(confirming(i, k_b, i, 1, i % 2 == 0 ? 1.03 : 0.97));
  const LaunchVariation variation = estimate_launch_variation(trials, {});
  EXPECT_NEAR(variation.relative, 0.03, 0.002);
  EXPECT_DOUBLE_EQ(variation.degrees_of_freedom, 3.0 + 39.0);
  EXPECT_NEAR(error_among_launches(2.0, 0.08, variation), 0.1, 0.005);
}

TEST(LaunchVariation, ComesFromRunsThatNothingSelected) {
  std::vector<TrialRecord> trials;
  for (std::int64_t i = 1; i <= 6; ++i) {
    trials.push_back(completed(i, i % 2 == 0 ? 1.2 : 0.8));
    trials.back().configuration.set("x", std::int64_t{1});
  }
  const double prior = LaunchVariation{}.relative;
  EXPECT_DOUBLE_EQ(estimate_launch_variation(trials, {}).relative, prior)
      << "the search repeats what looked good";
  for (const TrialPurpose purpose :
       {TrialPurpose::baseline, TrialPurpose::sentinel, TrialPurpose::confirm_baseline}) {
    for (TrialRecord& trial : trials)
      trial.purpose = purpose;
    EXPECT_GT(estimate_launch_variation(trials, {}).relative, 0.1) << to_text(purpose);
  }
  for (TrialRecord& trial : trials)
    trial.status = TrialStatus::infeasible;
  EXPECT_DOUBLE_EQ(estimate_launch_variation(trials, {}).relative, prior);
}

TEST(LaunchVariation, DoesNotCountScatterWithinRunsTwice) {
  std::vector<TrialRecord> trials;
  for (int i = 1; i <= 20; ++i)
    trials.push_back(confirming(i, k_b, i, 1, i % 2 == 0 ? 1.05 : 0.95, 0.05));
  EXPECT_LT(estimate_launch_variation(trials, {}).relative, 0.015);
  for (TrialRecord& trial : trials)
    trial.standard_errors.clear();
  EXPECT_DOUBLE_EQ(estimate_launch_variation(trials, {}).degrees_of_freedom, 3.0)
      << "their errors are not known";
}

TEST(LaunchVariation, SubtractsTheScatterWithinRuns) {
  std::vector<TrialRecord> trials;
  for (int i = 1; i <= 20; ++i) {
    trials.push_back(confirming(i, k_b, i, 1, i % 2 == 0 ? 1.05 : 0.95, 0.05));
    Measurement& measurement = trials.back().measurement.emplace(steady(0.1, 0.0098));
    measurement.step_half_width_s = measurement.half_width_s;
  }
  EXPECT_LT(estimate_launch_variation(trials, {}).relative, 0.015)
      << "the history lacks the error of batch means";
  for (TrialRecord& trial : trials)
    trial.measurement->step_standard_error_s = 0.0005;
  EXPECT_NEAR(estimate_launch_variation(trials, {}).relative, 0.05, 0.005);
  for (TrialRecord& trial : trials)
    trial.measurement->step_half_width_s = 0.001;
  EXPECT_LT(estimate_launch_variation(trials, {}).relative, 0.015) << "their phases vary";
}

TEST(LaunchVariation, IgnoresNonPositiveValuesAndUnknownErrors) {
  std::vector<TrialRecord> trials;
  for (int i = 1; i <= 3; ++i)
    trials.push_back(confirming(i, k_b, i, 1, 1.0, 0.01));
  const double known = estimate_launch_variation(trials, {}).relative;
  trials.push_back(confirming(4, k_b, 4, 1, 0.0, 0.01));
  EXPECT_DOUBLE_EQ(estimate_launch_variation(trials, {}).relative, known);
  trials.back() = confirming(4, k_b, 4, 1, 1.0, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(estimate_launch_variation(trials, {}).degrees_of_freedom, 3.0);
}

TEST(ErrorAmongLaunches, IsAddedOnlyToAnErrorThatIsKnown) {
  const LaunchVariation variation{0.03, 3.0};
  EXPECT_DOUBLE_EQ(error_among_launches(2.0, 0.0, variation), 0.0);
  EXPECT_DOUBLE_EQ(error_among_launches(completed(1, 2.0, 0.08), 0, variation), 0.1);
  TrialRecord unsure = completed(1, 2.0);
  unsure.standard_errors.clear();
  EXPECT_DOUBLE_EQ(error_among_launches(unsure, 0, variation), 0.0);
}

TrialRecord disturbed(double disturbed_s, double spent_s = 10.0) {
  TrialRecord trial = completed(1, 1.0);
  trial.spent_s = spent_s;
  trial.disturbed_s = disturbed_s;
  return trial;
}

TEST(DisturbedRuns, AreJudgedByTheirLastLaunch) {
  TrialRecord trial = disturbed(5.0, 20.0);
  EXPECT_DOUBLE_EQ(disturbed_share(trial), 0.25) << "the start of the disturbance is not known";
  trial.started_wall_s = 1000.0;
  trial.ended_wall_s = 1010.0;
  EXPECT_DOUBLE_EQ(disturbed_share(trial), 0.5);
  trial.disturbed_s = 30.0;
  EXPECT_DOUBLE_EQ(disturbed_share(trial), 1.0);
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed(5.0, 0.0)), 0.0);
}

TEST(DisturbedRuns, AreMuchDisturbedFromAFifthOn) {
  EXPECT_TRUE(is_much_disturbed(disturbed(2.0)));
  EXPECT_FALSE(is_much_disturbed(disturbed(1.9)));
}

TEST(DisturbedRuns, AreUsualIfMoreThanAThirdAre) {
  const TrialRecord quiet = disturbed(0.0);
  const TrialRecord loud = disturbed(5.0);
  const auto usual = [&](std::size_t disturbed_runs, std::size_t all) {
    std::vector<const TrialRecord*> runs(all, &quiet);
    std::fill_n(runs.begin(), disturbed_runs, &loud);
    return disturbance_is_usual(runs);
  };
  EXPECT_FALSE(usual(0, 0));
  EXPECT_FALSE(usual(1, 1)) << "one disturbed run may be chance";
  EXPECT_FALSE(usual(1, 3));
  EXPECT_TRUE(usual(2, 2));
  EXPECT_TRUE(usual(2, 3));
  EXPECT_FALSE(usual(2, 6));
  EXPECT_TRUE(usual(3, 6));
}

TEST(DisturbedRuns, AreDroppedUnlessUsualOrAll) {
  const TrialRecord quiet = disturbed(0.0);
  const TrialRecord loud = disturbed(5.0);
  EXPECT_THAT(without_disturbed({&quiet, &loud, &quiet}), ::testing::ElementsAre(&quiet, &quiet));
  EXPECT_THAT(without_disturbed({&loud}), ::testing::ElementsAre(&loud));
  EXPECT_THAT(without_disturbed({&quiet, &loud, &loud}),
              ::testing::ElementsAre(&quiet, &loud, &loud));
}

/// Whole runs of programs that end by themselves without a steady state. Each predicts the time of
/// a longer run to within 60 %.
class WholeRunPairs : public PairsTest {
 protected:
  void add_pair(double incumbent, double baseline) {
    const int pair = static_cast<int>(runs_.size()) / 2 + 1;
    const auto add = [&](TrialPurpose purpose, std::int64_t x, double value) {
      const auto number = static_cast<std::int64_t>(runs_.size()) + 1;
      runs_.push_back(confirming(number, purpose, pair, x, value, 0.3 * value));
      runs_.back().measurement = steady(value / 1000.0, 0.6 * value / 1000.0);
      runs_.back().measurement->status = MeasurementStatus::warming_up;
      runs_.back().measurement->whole_run = true;
      runs_.back().measurement->total_samples = 1000.0;
      runs_.back().measurement->slowest_seconds_per_sample = 3.0 * value / 1000.0;
    };
    add(k_a, 2, incumbent);
    add(k_b, 1, baseline);
  }
};

TEST_F(WholeRunPairs, IntervalsAreNarrowerIfPairsAgree) {
  add_pair(1.0, 1.15);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::open);
  add_pair(1.01, 1.15);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::open);
  EXPECT_LT(speed_up_of_pairs(study_, pairs(), k_error).high, 5.0) << "two say little, not nothing";
  add_pair(1.0, 1.14);
  add_pair(1.0, 1.15);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  // Four logarithms with three degrees of freedom; t(3; 0.975) = 3.1824. Their sums add as much.
  const double logs[] = {std::log(1.15), std::log(1.15 / 1.01), std::log(1.14), std::log(1.15)};
  double mean = 0.0, squares = 0.0;
  for (const double log : logs)
    mean += log / 4.0;
  for (const double log : logs)
    squares += (log - mean) * (log - mean);
  const double by_differences = 3.182446 * std::sqrt(squares / 3.0 / 4.0);
  EXPECT_LT(std::log(speed_up.high) - mean, by_differences);
  EXPECT_GT(std::log(speed_up.high) - mean, 0.7 * by_differences);

  for (TrialRecord& run : runs_)
    run.measurement->whole_run = false;
  EXPECT_NE(judge(study_, pairs(), k_error).verdict, Verdict::faster)
      << "trials that were cut off do not show that launches agree";
}

TEST_F(WholeRunPairs, AClaimTakesThreePairsWithoutASteadyState) {
  for (int pair = 0; pair < 2; ++pair)
    add_pair(1.0, 1e9);
  EXPECT_GT(speed_up_of_pairs(study_, pairs(), k_error).low, 1.0);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::open);
  EXPECT_EQ(judge_both_ways(study_, pairs(), {}).verdict, Verdict::open);
  study_.measure.confirm_pairs = 2;
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster) << "the study asks for two";
  study_.measure.confirm_pairs = 3;
  for (TrialRecord& run : runs_)
    run.measurement->status = MeasurementStatus::steady;
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  for (TrialRecord& run : runs_)
    run.measurement->status = MeasurementStatus::warming_up;
  add_pair(1.0, 1e9);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  EXPECT_EQ(judge_both_ways(study_, pairs(), {}).verdict, Verdict::faster);
}

TEST_F(WholeRunPairs, EqualPairsAreNotCertain) {
  for (int pair = 0; pair < 3; ++pair)
    add_pair(1.0, 1.15);
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  // At least a tenth of the deviation between two launches.
  const double error = std::sqrt(k_least_pair_variance / 3.0);
  EXPECT_GT(std::log(speed_up.high / 1.15), 1.96 * error);
  EXPECT_GT(std::log(1.15 / speed_up.low), 1.96 * error);
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(WholeRunPairs, PairsThatDifferAreLessCertain) {
  add_pair(1.0, 1.15);
  add_pair(1.1, 1.15);
  add_pair(1.0, 1.05);
  add_pair(1.1, 1.15);
  EXPECT_NE(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(WholeRunPairs, SteadyPairsHaveTheErrorOfTheirSpread) {
  for (int pair = 0; pair < 3; ++pair)
    add_pair(1.0, 1.5);
  for (TrialRecord& run : runs_) {
    run.measurement->status = MeasurementStatus::steady;
    run.standard_errors[0] = 0.04 * run.objectives[0];
  }
  const SpeedUp speed_up = speed_up_of_pairs(study_, pairs(), k_error);
  EXPECT_NEAR(std::log(speed_up.high / 1.5), PairError({3.0, 0.0, 0.0}, 0.0, {}).quantile(k_error),
              1e-6);
}

TEST_F(WholeRunPairs, ALongerPlanMayHideABuffer) {
  study_.planned_run.samples = 1e6;
  for (int pair = 0; pair < 3; ++pair)
    add_pair(1.0 + 0.001 * pair, 1.15);
  const Judgement hidden = judge(study_, pairs(), k_error);
  EXPECT_EQ(hidden.verdict, Verdict::hidden);
  EXPECT_TRUE(hidden.settled) << "further runs would not be longer";
  study_.planned_run.samples = 1000.0;
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
  study_.planned_run.samples.reset();
  EXPECT_EQ(judge(study_, pairs(), k_error).verdict, Verdict::faster);
}

TEST_F(WholeRunPairs, ShowHowLaunchesDiffer) {
  const LaunchVariation before;
  add_pair(1.0, 1.15);
  add_pair(1.2, 1.15);
  EXPECT_LT(error_among_launches(runs_[0], 0, before), 0.05) << "beside 60 % of a longer run";
  const LaunchVariation after = estimate_launch_variation(runs_, {});
  EXPECT_EQ(after.degrees_of_freedom, 5.0);
  const double squares = 3.0 * 0.015 * 0.015 + 0.5 * std::log(1.2) * std::log(1.2);
  EXPECT_NEAR(after.relative, std::sqrt(squares / 5.0), 1e-9);
  EXPECT_NEAR(error_among_launches(runs_[0], 0, after), after.relative, 1e-12);
}

}  // namespace
}  // namespace steptune
