// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/ranking.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/loop/fixture.hpp"
#include "tuner/loop/recommend.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A study whose parameter `x` is its batch size.
StudySpec batch_study() {
  StudySpec study = time_study();
  study.planned_run.batch_size = document::Formula(
      "x", [](const Configuration& configuration) { return to_number(*configuration.find("x")); });
  return study;
}

TEST(Ranking, OnlyCompletedTrialsOfTheSearchMayWin) {
  const StudySpec study = time_study();
  EXPECT_TRUE(may_win(study, completed(1, 1.0)));
  for (const TrialStatus status :
       {TrialStatus::launching, TrialStatus::running, TrialStatus::stopped_early,
        TrialStatus::infeasible, TrialStatus::failed, TrialStatus::out_of_memory,
        TrialStatus::interrupted}) {
    TrialRecord trial = completed(1, 1.0);
    trial.status = status;
    EXPECT_FALSE(may_win(study, trial)) << to_text(status);
  }
  TrialRecord without = completed(1, 1.0);
  without.objectives.clear();
  EXPECT_FALSE(may_win(study, without)) << "no metric, no rank";
  EXPECT_FALSE(may_win(study, completed(1, std::nan(""))));
  EXPECT_FALSE(may_win(study, confirming(1, TrialPurpose::confirm_incumbent, 1, 1, 1.0)));
}

TEST(Ranking, TheBestValueWinsWhereValuesCanBeToldApart) {
  const std::vector<TrialRecord> trials{completed(1, 5.0, 0.1), completed(2, 3.0, 0.1),
                                        completed(3, 4.0, 0.1)};
  EXPECT_EQ(choose_incumbent(time_study(), pointers(trials))->number, 2);
  EXPECT_EQ(choose_incumbent(time_study(), {}), nullptr);
}

TEST(Ranking, AmongTiedOnesTheSmallerBatchWins) {
  // x is the batch size and the trial's number.
  const std::vector<TrialRecord> trials{completed(1, 9.0, 0.1), completed(2, 3.04, 0.1),
                                        completed(3, 3.0, 0.1), completed(4, 3.02, 0.1)};
  EXPECT_EQ(choose_incumbent(batch_study(), pointers(trials))->number, 2);
  EXPECT_EQ(choose_incumbent(time_study(), pointers(trials))->number, 3)
      << "without a batch size the value decides";
}

TEST(Ranking, AWideIntervalDoesNotWinByBeingVague) {
  const std::vector<TrialRecord> trials{completed(1, 4.0, 2.0), completed(2, 3.0, 0.1)};
  EXPECT_EQ(choose_incumbent(batch_study(), pointers(trials))->number, 2);
  EXPECT_THAT(tied_with(batch_study(), trials[1], pointers(trials)), ElementsAre(1));
}

TEST(Ranking, AmongTiedOnesTheCheaperWinsBeforeTheSmaller) {
  StudySpec study = batch_study();
  study.objectives.push_back({"cost", Direction::minimize});
  std::vector<TrialRecord> trials{completed(1, 3.0, 0.1), completed(2, 3.0, 0.1)};
  trials[0].objectives.push_back(20.0);
  trials[1].objectives.push_back(10.0);
  for (auto& trial : trials)
    trial.standard_errors.push_back(0.1);
  EXPECT_EQ(choose_incumbent(study, pointers(trials))->number, 2);
}

TEST(Ranking, MaximizedObjectivesRankTheOtherWayRound) {
  StudySpec study = time_study();
  study.objectives = {{"accuracy", Direction::maximize}};
  const std::vector<TrialRecord> trials{completed(1, 0.5), completed(2, 0.9), completed(3, 0.7)};
  EXPECT_EQ(choose_incumbent(study, pointers(trials))->number, 2);
}

TEST(Ranking, TiesAreOverlappingIntervals) {
  const std::vector<TrialRecord> trials{completed(1, 3.0, 0.1), completed(2, 3.3, 0.1),
                                        completed(3, 3.5, 0.1), completed(4, 3.1, 0.1)};
  EXPECT_THAT(tied_with(time_study(), trials[0], pointers(trials)), ElementsAre(4, 2));
}

TEST(Ranking, TheParetoFrontHoldsWhatNothingDominates) {
  StudySpec study = time_study();
  EXPECT_THAT(pareto_front(study, pointers({completed(1, 1.0)})), IsEmpty()) << "one objective";
  study.objectives.push_back({"accuracy", Direction::maximize});
  std::vector<TrialRecord> trials{completed(1, 1.0), completed(2, 2.0), completed(3, 3.0),
                                  completed(4, 1.0), completed(5, 2.0)};
  const std::vector<double> second{0.5, 0.9, 0.8, 0.4, 0.9};
  for (std::size_t i = 0; i < trials.size(); ++i)
    trials[i].objectives.push_back(second[i]);
  EXPECT_THAT(pareto_front(study, pointers(trials)), ElementsAre(1, 2));
}

TEST(Ranking, ARefutedConfigurationIsNoCandidate) {
  std::vector<TrialRecord> trials{completed(1, 5.0), completed(2, 3.0),
                                  confirming(3, TrialPurpose::confirm_incumbent, 1, 2, 3.0)};
  EXPECT_EQ(find_incumbent(time_study(), trials)->number, 2);
  trials[2].status = TrialStatus::failed;
  EXPECT_EQ(find_incumbent(time_study(), trials)->number, 1);
  trials[2].status = TrialStatus::interrupted;
  EXPECT_EQ(find_incumbent(time_study(), trials)->number, 2);
}

}  // namespace
}  // namespace steptune
