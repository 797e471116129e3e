// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/standing.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns a study whose parameter `x` is its batch size.
StudySpec batch_study() {
  StudySpec study = time_study();
  study.planned_run.batch_size = document::Formula(
      "x", [](const Configuration& configuration) { return to_number(*configuration.find("x")); });
  return study;
}

Standing standing_of(const StudySpec& study, std::vector<TrialRecord> trials,
                     std::size_t ranked_by = 0) {
  return Standing(ranking_rules(study), std::move(trials), ranked_by);
}

std::vector<std::int64_t> front_of(const StudySpec& study, std::vector<TrialRecord> trials,
                                   std::size_t ranked_by = 0) {
  const Standing standing = standing_of(study, std::move(trials), ranked_by);
  return standing.front(*standing.incumbent());
}

TEST(Standing, OnlyCompletedTrialsOfTheSearchMayWin) {
  const StudySpec study = time_study();
  EXPECT_TRUE(may_win(ranking_rules(study), completed(1, 1.0)));
  for (const TrialStatus status :
       {TrialStatus::launching, TrialStatus::running, TrialStatus::stopped_early,
        TrialStatus::infeasible, TrialStatus::failed, TrialStatus::out_of_memory,
        TrialStatus::interrupted}) {
    TrialRecord trial = completed(1, 1.0);
    trial.status = status;
    EXPECT_FALSE(may_win(ranking_rules(study), trial)) << to_text(status);
  }
  TrialRecord without = completed(1, 1.0);
  without.objectives.clear();
  EXPECT_FALSE(may_win(ranking_rules(study), without)) << "no metric, no rank";
  EXPECT_FALSE(may_win(ranking_rules(study), completed(1, std::nan(""))));
  EXPECT_FALSE(
      may_win(ranking_rules(study), confirming(1, TrialPurpose::confirm_incumbent, 1, 1, 1.0)));
}

TEST(Standing, TheBestDistinguishableValueWins) {
  const std::vector<TrialRecord> trials{completed(1, 5.0, 0.1), completed(2, 3.0, 0.1),
                                        completed(3, 4.0, 0.1)};
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 2);
  EXPECT_EQ(standing_of(time_study(), {}).incumbent(), nullptr);
}

TEST(Standing, AmongTiedOnesTheSmallerBatchWins) {
  // x is the batch size, and the trial's number.
  const std::vector<TrialRecord> trials{completed(1, 9.0, 0.1), completed(2, 3.04, 0.1),
                                        completed(3, 3.0, 0.1), completed(4, 3.02, 0.1)};
  EXPECT_EQ(standing_of(batch_study(), trials).incumbent()->number, 2);
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 3)
      << "without a batch size the value decides";
}

TEST(Standing, AWideIntervalDoesNotWinByBeingVague) {
  const std::vector<TrialRecord> trials{completed(1, 4.0, 2.0), completed(2, 3.0, 0.1)};
  EXPECT_EQ(standing_of(batch_study(), trials).incumbent()->number, 2);
  EXPECT_THAT(standing_of(batch_study(), trials).tied_with(trials[1]), ElementsAre(1));
}

TEST(Standing, AmongTiedOnesTheCheaperWinsBeforeTheSmaller) {
  StudySpec study = batch_study();
  study.objectives.push_back({"cost", Direction::minimize});
  std::vector<TrialRecord> trials{completed(1, 3.0, 0.1), completed(2, 3.0, 0.1)};
  trials[0].objectives.push_back(20.0);
  trials[1].objectives.push_back(10.0);
  for (auto& trial : trials)
    trial.standard_errors.push_back(0.1);
  EXPECT_EQ(standing_of(study, trials).incumbent()->number, 2);
}

TEST(Standing, ATrialBestInBothObjectivesIsTheWholeFront) {
  StudySpec study = time_study();
  study.objectives.push_back({"accuracy", Direction::maximize});
  std::vector<TrialRecord> trials{completed(1, 2.0), completed(2, 1.0), completed(3, 3.0)};
  const std::vector<double> second{0.5, 0.9, 0.8};
  for (std::size_t i = 0; i < trials.size(); ++i)
    trials[i].objectives.push_back(second[i]);
  EXPECT_THAT(front_of(study, trials), ElementsAre(2));
}

TEST(Standing, MaximizedObjectivesRankTheOtherWayRound) {
  StudySpec study = time_study();
  study.objectives = {{"accuracy", Direction::maximize}};
  const std::vector<TrialRecord> trials{completed(1, 0.5), completed(2, 0.9), completed(3, 0.7)};
  EXPECT_EQ(standing_of(study, trials).incumbent()->number, 2);
}

TEST(Standing, TiesAreOverlappingIntervals) {
  const std::vector<TrialRecord> trials{completed(1, 3.0, 0.1), completed(2, 3.3, 0.1),
                                        completed(3, 3.5, 0.1), completed(4, 3.1, 0.1)};
  EXPECT_THAT(standing_of(time_study(), trials).tied_with(trials[0]), ElementsAre(4, 2));
}

TEST(Standing, TheParetoFrontHasUndominatedTrials) {
  StudySpec study = time_study();
  EXPECT_THAT(front_of(study, {completed(1, 1.0)}), IsEmpty()) << "one objective";
  study.objectives.push_back({"accuracy", Direction::maximize});
  std::vector<TrialRecord> trials{completed(1, 1.0), completed(2, 2.0), completed(3, 3.0),
                                  completed(4, 1.0), completed(5, 2.0)};
  const std::vector<double> second{0.5, 0.9, 0.8, 0.4, 0.9};
  for (std::size_t i = 0; i < trials.size(); ++i)
    trials[i].objectives.push_back(second[i]);
  EXPECT_THAT(front_of(study, trials), ElementsAre(1, 2));
}

TEST(Standing, ATradeOffExceedsTheVariationOfLaunches) {
  StudySpec study = time_study();
  study.objectives.push_back({"cost", Direction::minimize});
  std::vector<TrialRecord> trials{completed(1, 100.0, 0.1), completed(2, 104.0, 0.1),
                                  completed(3, 150.0, 0.1)};
  const std::vector<double> costs{10.0, 9.8, 7.0};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].objectives.push_back(costs[i]);
    trials[i].standard_errors.push_back(0.001);
  }
  EXPECT_THAT(front_of(study, trials), ElementsAre(1, 3))
      << "2 % are less than launches of one configuration differ by";
}

TEST(Standing, ARefutedConfigurationIsNoCandidate) {
  std::vector<TrialRecord> trials{completed(1, 5.0), completed(2, 3.0),
                                  confirming(3, TrialPurpose::confirm_incumbent, 1, 2, 3.0)};
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 2);
  trials[2].status = TrialStatus::failed;
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 1);
  trials[2].status = TrialStatus::interrupted;
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 2);
}

TEST(Standing, TheBaselineIsTheOneThatWasMeasured) {
  std::vector<TrialRecord> trials{completed(1, 5.0), completed(2, 4.0), completed(3, 3.0)};
  trials[0].purpose = TrialPurpose::baseline;
  trials[0].status = TrialStatus::failed;
  trials[0].objectives.clear();
  trials[0].standard_errors.clear();
  EXPECT_EQ(standing_of(time_study(), trials).baseline(), nullptr);
  trials[1].purpose = TrialPurpose::baseline;
  EXPECT_EQ(standing_of(time_study(), trials).baseline()->number, 2);
  trials[1].status = TrialStatus::infeasible;
  EXPECT_EQ(standing_of(time_study(), trials).baseline()->number, 2)
      << "a baseline that violates a guard is still what the user runs today";
  EXPECT_EQ(standing_of(time_study(), trials).incumbent()->number, 3);
}

TEST(Standing, TheOtherObjectiveFollowsTheSameRule) {
  StudySpec study = batch_study();
  study.objectives.push_back({"cost", Direction::minimize});
  std::vector<TrialRecord> trials{completed(1, 9.0, 0.1), completed(2, 3.0, 0.1),
                                  completed(3, 4.0, 0.1)};
  const std::vector<double> costs{5.0, 9.0, 5.05};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].objectives.push_back(costs[i]);
    trials[i].standard_errors.push_back(0.1);
  }
  EXPECT_EQ(standing_of(study, trials, 1).incumbent()->number, 1);
  EXPECT_THAT(standing_of(study, trials, 1).tied_with(trials[0]), ElementsAre(3));
  // By cost, 3 is tied with 1 and faster, so it is the trade-off against 2.
  EXPECT_THAT(front_of(study, trials, 1), ElementsAre(1, 3, 2));
  EXPECT_THAT(front_of(study, trials, 0), ElementsAre(2, 3));
}

TEST(Standing, DoesNotDependOnHowTrialsAreAdded) {
  std::vector<TrialRecord> trials;
  Standing grown(ranking_rules(batch_study()));
  for (int i = 1; i <= 40; ++i) {
    TrialRecord trial = completed(i, 1.0 + 0.01 * ((i * 17) % 40), 0.01);
    trial.spent_s = i;
    trial.spent_usd = 0.5 * i;
    trials.push_back(trial);
    TrialRecord launching = trial;
    launching.status = TrialStatus::launching;
    launching.objectives.clear();
    launching.spent_usd = 0.1;  // of an earlier attempt
    grown.put(launching);
    grown.put(trial);
    const Standing at_once = standing_of(batch_study(), trials);
    ASSERT_EQ(grown.incumbent()->number, at_once.incumbent()->number) << i;
    ASSERT_EQ(grown.tied_with(*grown.incumbent()), at_once.tied_with(*at_once.incumbent())) << i;
    ASSERT_DOUBLE_EQ(grown.spent_usd(), at_once.spent_usd());
  }
  EXPECT_EQ(grown.ended_search_trials(), 40);
  EXPECT_DOUBLE_EQ(grown.mean_price({})->seconds, 20.5);
  EXPECT_DOUBLE_EQ(grown.mean_price({})->usd, 10.25);
}

TEST(Standing, StoppedTrialsDoNotLeadButAreKept) {
  std::vector<TrialRecord> trials{completed(1, 5.0, 0.1), completed(2, 3.0, 0.1),
                                  completed(3, 2.0, 0.1), completed(4, 4.0, 0.1)};
  trials[0].purpose = TrialPurpose::baseline;
  trials[0].status = trials[3].status = TrialStatus::infeasible;
  trials[1].status = trials[2].status = TrialStatus::stopped_early;
  Standing standing = standing_of(time_study(), trials);
  EXPECT_EQ(standing.incumbent(), nullptr) << "guards have not judged the stopped trials";
  ASSERT_EQ(standing.stopped().size(), 2U);
  EXPECT_EQ(standing.stopped().front()->number, 3);
  TrialRecord refuting = confirming(5, TrialPurpose::confirm_incumbent, 1, 3, 2.0);
  refuting.status = TrialStatus::failed;
  standing.put(refuting);
  ASSERT_EQ(standing.stopped().size(), 1U);
  EXPECT_EQ(standing.stopped().front()->number, 2);
}

TEST(Standing, ThePriceOfATrialIsTheMeanOverAllThatEnded) {
  std::vector<TrialRecord> trials{completed(1, 5.0), completed(2, 5.0), completed(3, 5.0),
                                  confirming(4, TrialPurpose::confirm_baseline, 1, 1, 5.0)};
  const std::vector<double> spent_s{30.0, 2.0, 100.0, 500.0};
  for (std::size_t i = 0; i < trials.size(); ++i)
    trials[i].spent_s = spent_s[i];
  trials[1].status = TrialStatus::failed;
  trials[2].status = TrialStatus::running;
  EXPECT_DOUBLE_EQ(standing_of(time_study(), trials).mean_price({})->seconds, 16.0);
  EXPECT_FALSE(standing_of(time_study(), {}).mean_price({}));
}

TEST(Standing, ThePriceOfATrialIgnoresTheBaselinesLength) {
  const MeasureSpec measure;  // a trial needs at least 30 steps, and a half-width of 2 %
  TrialRecord baseline = completed(1, 0.1);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement = steady(0.1, 0.0005);
  baseline.measurement->window_s = 21.0;
  baseline.measurement->window_steps = 210.0;
  baseline.spent_s = 24.0;
  baseline.spent_usd = 0.48;
  // 30 steps take 3 s, longer than a half-width of 2 % needs. The start and warm-up take 3 s.
  const auto first = standing_of(time_study(), {baseline}).mean_price(measure);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->seconds, 6.0);
  EXPECT_DOUBLE_EQ(first->usd, 0.12);
  TrialRecord searched = completed(2, 0.1);
  searched.spent_s = 7.0;
  searched.spent_usd = 0.14;
  const auto second = standing_of(time_study(), {baseline, searched}).mean_price(measure);
  EXPECT_DOUBLE_EQ(second->seconds, 7.0);
  EXPECT_DOUBLE_EQ(second->usd, 0.14);
  baseline.measurement->whole_run = true;
  EXPECT_DOUBLE_EQ(standing_of(time_study(), {baseline}).mean_price(measure)->seconds, 24.0)
      << "a program that ends by itself is measured to its end";
}

TEST(Standing, ARepeatedConfigurationHasItsBestTrial) {
  std::vector<TrialRecord> trials{completed(1, 5.0), completed(2, 3.0), completed(3, 4.0),
                                  completed(4, 1.0)};
  for (std::size_t i = 0; i < 3; ++i)
    trials[i].configuration = trials[0].configuration;
  trials.push_back(trials[0]);
  trials.back().number = 5;
  trials.back().objectives = {0.5};
  trials.back().status = TrialStatus::infeasible;
  const Standing standing = standing_of(time_study(), trials);
  EXPECT_EQ(standing.best_of(trials[0].configuration)->number, 2);
  EXPECT_EQ(standing.best_of(completed(9, 1.0).configuration), nullptr);
}

TEST(Standing, FindsTrialsByNumberInWhateverOrderTheyCame) {
  const Standing standing =
      standing_of(time_study(), {completed(3, 1.0), completed(1, 2.0), completed(3, 9.0)});
  ASSERT_EQ(standing.trials().size(), 2U) << "each once";
  EXPECT_EQ(standing.find(1)->objectives[0], 2.0);
  EXPECT_EQ(standing.find(3)->objectives[0], 1.0);
  EXPECT_EQ(standing.find(2), nullptr);
  EXPECT_EQ(standing.find(4), nullptr);
}

TEST(Standing, TrialsWithOtherObjectivesAreNotTied) {
  TrialRecord leader = completed(1, 3.0, 0.1);
  const Standing standing = standing_of(time_study(), {leader, completed(2, 3.0, 0.1)});
  leader.objectives.clear();
  EXPECT_THAT(standing.tied_with(leader), IsEmpty());
}

TEST(Standing, ARefutedConfigurationIsNotOnTheFront) {
  StudySpec study = time_study();
  study.objectives.push_back({"accuracy", Direction::maximize});
  std::vector<TrialRecord> trials{completed(1, 1.0), completed(2, 2.0),
                                  confirming(3, TrialPurpose::confirm_incumbent, 1, 1, 1.0)};
  for (TrialRecord& trial : trials)
    trial.objectives.push_back(0.5);
  EXPECT_THAT(front_of(study, trials), ElementsAre(1));
  trials[2].status = TrialStatus::failed;
  EXPECT_THAT(front_of(study, trials), ElementsAre(2));
}

}  // namespace
}  // namespace steptune
