// SPDX-License-Identifier: Apache-2.0
// Tests how far a time budget reaches, and what the remaining time is used for.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/verdict/speed_up.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

constexpr double k_first_finalists_error = 0.0125;

StudySpec study_of(double time_s) {
  StudySpec study = time_study();
  study.budget.time_s = time_s;
  return study;
}

TEST(PlannedCourse, CountsTrialsAndPairs) {
  const auto course = planned_course(study_of(180.0), 5.0, 0.0);
  ASSERT_TRUE(course);
  EXPECT_GE(course->trials, 4);
  EXPECT_LE(course->trials, 20);
  EXPECT_EQ(course->pairs, 3);
  EXPECT_LT(course->needed_s, 180.0);
  EXPECT_FALSE(planned_course(time_study(), 5.0, 0.0)) << "no budget of time";
}

TEST(PlannedCourse, AQuickProgramHasMoreTrials) {
  EXPECT_GT(planned_course(study_of(180.0), 1.0, 0.0)->trials,
            planned_course(study_of(180.0), 12.0, 0.0)->trials);
}

TEST(PlannedCourse, SaysHowMuchTimeIsNeeded) {
  const auto course = planned_course(study_of(60.0), 30.0, 20.0);
  EXPECT_EQ(course->trials, 0);
  EXPECT_EQ(course->pairs, 0);
  EXPECT_GT(course->needed_s, 200.0) << "two starts, two pairs, and the time already used";
  const auto longer = planned_course(study_of(course->needed_s), 30.0, 20.0);
  EXPECT_GE(longer->trials, 2);
  EXPECT_GE(longer->pairs, 2);
}

/// Pairs with the ratios `gains`; each run is known to a thousandth.
class LeftTime : public ::testing::Test {
 protected:
  std::vector<RunPair> pairs(const std::vector<double>& gains) {
    runs_.clear();
    runs_.reserve(2 * gains.size());
    std::vector<RunPair> result;
    for (const double gain : gains) {
      const auto number = static_cast<std::int64_t>(runs_.size()) + 1;
      runs_.push_back(confirming(number, TrialPurpose::confirm_incumbent, 1, 2, 1.0, 0.001));
      runs_.push_back(confirming(number + 1, TrialPurpose::confirm_baseline, 1, 1, gain, 0.001));
      result.push_back({&runs_[runs_.size() - 2], &runs_.back()});
    }
    return result;
  }
  std::vector<TrialRecord> runs_;
};

TEST_F(LeftTime, GoesIntoPairsUntilAClaimIsDecidedAgainstTheWorth) {
  const auto three = pairs({1.06, 1.08, 1.1});
  ASSERT_EQ(judge(time_study(), three, k_first_finalists_error).verdict, Verdict::faster);
  EXPECT_TRUE(judge(time_study(), three, k_first_finalists_error).settled) << "no budget of time";
  EXPECT_FALSE(judge(study_of(900.0), three, k_first_finalists_error).settled);
  StudySpec any = study_of(900.0);
  any.search.worth = 0.0;
  EXPECT_TRUE(judge(any, three, k_first_finalists_error).settled) << "any gain counts";
  const auto clear = pairs({1.5, 1.52, 1.48});
  EXPECT_TRUE(judge(study_of(900.0), clear, k_first_finalists_error).settled) << "certain already";
}

TEST_F(LeftTime, FurtherPairsDoNotRevokeAClaim) {
  std::vector<double> gains{1.06, 1.07, 1.08};
  const StudySpec study = study_of(900.0);
  const SpeedUp three = judge(study, pairs(gains), k_first_finalists_error).speed_up;
  while (gains.size() < 12) {
    gains.push_back(1.03 + 0.01 * static_cast<double>(gains.size() % 6));
    const auto all = pairs(gains);
    const SpeedUp more = judge(study, all, k_first_finalists_error).speed_up;
    EXPECT_GE(more.low, three.low);
    EXPECT_LE(more.high, three.high);
    EXPECT_EQ(judge(study, all, k_first_finalists_error).verdict, Verdict::faster);
  }
  EXPECT_TRUE(judge(time_study(), pairs(gains), k_first_finalists_error).settled)
      << "without a budget of time their number is bounded";
}

TEST_F(LeftTime, AGainThatIsNotWorthItIsGivenUp) {
  const auto equal = pairs({1.0, 1.0, 1.0});
  const Judgement judgement = judge(time_study(), equal, k_first_finalists_error);
  EXPECT_EQ(judgement.verdict, Verdict::not_faster);
  EXPECT_TRUE(judgement.settled);
  EXPECT_LT(judge(time_study(), equal, k_first_finalists_error).speed_up.high, 1.05);
}

TEST(MostGain, IsFiellersUpperEnd) {
  const std::vector<TrialRecord> trials{[] {
                                          TrialRecord trial = completed(1, 4.0);
                                          trial.purpose = TrialPurpose::baseline;
                                          return trial;
                                        }(),
                                        completed(2, 2.0)};
  const StudySpec study = time_study();
  const Standing standing(ranking_rules(study), trials);
  EXPECT_NEAR(most_gain_of_trial(standing, standing.trials()[1], standing.trials()[0], 0, 2), 1.0,
              1e-12)
      << "values without an error";
  std::vector<TrialRecord> vague = trials;
  vague[1].standard_errors = {1.5};
  const Standing other(ranking_rules(study), vague);
  EXPECT_TRUE(std::isinf(most_gain_of_trial(other, other.trials()[1], other.trials()[0], 0, 2)));
}

}  // namespace
}  // namespace steptune
