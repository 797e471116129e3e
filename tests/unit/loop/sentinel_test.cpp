// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/sentinel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// A study whose search trials take 10 s each.
class SentinelTest : public ::testing::Test {
 protected:
  SentinelTest() { add(TrialPurpose::baseline, 100.0, 10.0); }
  void add(TrialPurpose purpose, double value, double spent_s) {
    TrialRecord trial = completed(static_cast<std::int64_t>(trials_.size()) + 1, value, 0.5);
    trial.purpose = purpose;
    trial.spent_s = spent_s;
    trials_.push_back(std::move(trial));
  }
  [[nodiscard]] bool is_due(bool search_is_over = false) const {
    return sentinel_is_due(study_, Standing(ranking_rules(study_), trials_), search_is_over);
  }
  /// Continues the search, and runs the baseline again whenever a sentinel is due. Returns the
  /// number of search trials before each sentinel. `level` is the machine's level by that number.
  template <typename Level>
  std::vector<int> search(int trials, double sentinel_s, const Level& level) {
    std::vector<int> after;
    for (int searched = 0; searched < trials; ++searched) {
      if (is_due()) {
        add(TrialPurpose::sentinel, 100.0 * level(searched), sentinel_s);
        after.push_back(searched);
      }
      add(TrialPurpose::search, 90.0, 10.0);
    }
    return after;
  }

  StudySpec study_ = time_study();
  std::vector<TrialRecord> trials_;
};

double quiet(int /*searched*/) {
  return 1.0;
}

TEST_F(SentinelTest, IntervalsDoubleOnAQuietMachine) {
  // The first sentinel may take as long as a trial, which must be 5 % of the search.
  EXPECT_THAT(search(200, 5.0, quiet), ::testing::ElementsAre(19, 38, 76, 152));
}

TEST_F(SentinelTest, TakesNoMoreThanItsShare) {
  const auto after = search(200, 30.0, quiet);
  EXPECT_LE(static_cast<double>(after.size()) * 30.0, 0.05 * 200.0 * 10.0);
  EXPECT_FALSE(after.empty());
}

TEST_F(SentinelTest, ComesMoreOftenOnceTheMachineDrifts) {
  const auto after = search(100, 5.0, [](int searched) { return 1.0 + 0.005 * searched; });
  EXPECT_GT(after.size(), search(100, 5.0, quiet).size());
  EXPECT_GE(after.size(), 5U);
  EXPECT_LE(static_cast<double>(after.size()) * 5.0, 0.1 * 100.0 * 10.0);
}

TEST_F(SentinelTest, ReturnsAfterTheSearchIfManyTrialsRanSince) {
  search(30, 5.0, quiet);
  EXPECT_FALSE(is_due(false));
  EXPECT_TRUE(is_due(true));
  add(TrialPurpose::sentinel, 100.0, 5.0);
  EXPECT_FALSE(is_due(true)) << "once";
}

TEST_F(SentinelTest, OneAtATime) {
  for (int i = 0; i < 30; ++i)
    add(TrialPurpose::search, 90.0, 10.0);
  ASSERT_TRUE(is_due());
  add(TrialPurpose::sentinel, 100.0, 0.0);
  trials_.back().status = TrialStatus::running;
  EXPECT_FALSE(is_due());
}

TEST_F(SentinelTest, OnlyTimeObjectivesNeedSentinels) {
  for (int i = 0; i < 30; ++i)
    add(TrialPurpose::search, 90.0, 10.0);
  ASSERT_TRUE(is_due());
  study_.measure.sentinels = false;
  EXPECT_FALSE(is_due());
  study_.measure.sentinels = true;
  study_.objectives = {{"accuracy", Direction::maximize}};
  EXPECT_FALSE(is_due());
}

TEST_F(SentinelTest, CostsDriftAsTimesDo) {
  study_.objectives = {{"cost", Direction::minimize}};
  for (int i = 0; i < 30; ++i)
    add(TrialPurpose::search, 90.0, 10.0);
  EXPECT_TRUE(is_due());
}

TEST_F(SentinelTest, NeedsABaselineToCompareWith) {
  trials_.clear();
  for (int i = 0; i < 30; ++i)
    add(TrialPurpose::search, 90.0, 10.0);
  EXPECT_FALSE(is_due());
}

TEST_F(SentinelTest, FollowsTenTrialsOfTheSearchAtTheEarliest) {
  for (int i = 0; i < 9; ++i)
    add(TrialPurpose::search, 90.0, 1000.0);
  EXPECT_FALSE(is_due(true));
  add(TrialPurpose::search, 90.0, 1.0);
  EXPECT_TRUE(is_due(true));
}

TEST_F(SentinelTest, RunningTrialsCountWithoutTheirTime) {
  for (int i = 0; i < 10; ++i) {
    add(TrialPurpose::search, 90.0, 1000.0);
    trials_.back().status = TrialStatus::running;
  }
  EXPECT_FALSE(is_due());
  for (std::size_t i = 1; i < trials_.size(); ++i)
    trials_[i].status = TrialStatus::completed;
  add(TrialPurpose::sentinel, 100.0, 5.0);
  EXPECT_FALSE(is_due());
  trials_.pop_back();
  trials_[0].spent_s = 1.0;
  for (std::size_t i = 1; i < trials_.size(); ++i)
    trials_[i].spent_s = i == 1 ? 10000.0 : 1.0;
  EXPECT_FALSE(is_due()) << "a sentinel as long as the other trials would take more than its share";
}

TEST_F(SentinelTest, IsExpectedToLastAsEarlierOnes) {
  const auto expected_s = [&] {
    return expected_sentinel_s(study_, Standing(ranking_rules(study_), trials_));
  };
  add(TrialPurpose::search, 90.0, 30.0);
  EXPECT_DOUBLE_EQ(expected_s(), 30.0) << "as trials of the search do";
  add(TrialPurpose::sentinel, 100.0, 4.0);
  add(TrialPurpose::sentinel, 100.0, 6.0);
  EXPECT_DOUBLE_EQ(expected_s(), 5.0);
  trials_.clear();
  EXPECT_DOUBLE_EQ(expected_s(), 0.0);
}

TEST(SentinelMeasure, IsShorterAndLessPrecise) {
  MeasureSpec measure;
  measure.target_half_width = 0.005;
  measure.max_trial_s = 60.0;
  measure.min_window_s = 5.0;
  EXPECT_DOUBLE_EQ(sentinel_measure(measure).target_half_width, 0.02);
  EXPECT_DOUBLE_EQ(sentinel_measure(measure).max_trial_s, 30.0);
  measure.target_half_width = 0.05;
  measure.max_trial_s = 8.0;
  EXPECT_DOUBLE_EQ(sentinel_measure(measure).target_half_width, 0.05);
  EXPECT_DOUBLE_EQ(sentinel_measure(measure).max_trial_s, 5.0) << "a sentinel needs a window";
}

}  // namespace
}  // namespace steptune
