// SPDX-License-Identifier: Apache-2.0
#include "search/scheduler.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/schedulers/pareto_rank.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

constexpr double k_unknown = INFINITY;

std::unique_ptr<Scheduler> scheduler_of(const std::string& name) {
  auto scheduler = make_scheduler(name, {3.0, 10, 810});
  EXPECT_TRUE(scheduler) << scheduler.error().text();
  return *std::move(scheduler);
}

TrialEstimate estimate(std::int64_t trial, double resource, double value, double half_width = 0.0) {
  return {trial, resource, {value}, {half_width}};
}

bool stops(Scheduler& scheduler, const TrialEstimate& estimate) {
  return scheduler.on_estimate(estimate).stop;
}

TEST(Asha, StopsAllButTheBestThirdOfARung) {
  const auto asha = scheduler_of("asha");
  EXPECT_FALSE(stops(*asha, estimate(1, 10, 3.0))) << "nothing to compare with";
  EXPECT_FALSE(stops(*asha, estimate(2, 10, 2.0)));
  const StopDecision third = asha->on_estimate(estimate(3, 10, 2.5));
  EXPECT_TRUE(third.stop);
  EXPECT_THAT(third.reason, HasSubstr("rung 1 (10 steps): rank 2 of 3, top 1 promoted"));
  EXPECT_FALSE(stops(*asha, estimate(4, 10, 1.0)));
  EXPECT_TRUE(stops(*asha, estimate(5, 10, 2.1)));
  EXPECT_FALSE(stops(*asha, estimate(6, 10, 1.5))) << "second of six";
}

TEST(Asha, LetsOnlyTheBestOfTheFirstFewContinue) {
  const auto asha = scheduler_of("asha");
  asha->on_exempt(estimate(0, 10, 1.0));
  EXPECT_TRUE(stops(*asha, estimate(1, 10, 1.1)));
  EXPECT_FALSE(stops(*asha, estimate(2, 10, 0.9)));
}

TEST(Asha, DoesNotJudgeATrialBetweenRungs) {
  const auto asha = scheduler_of("asha");
  for (int trial = 1; trial <= 4; ++trial) {
    (void)asha->on_estimate(estimate(trial, 10, 10.0 - trial));
  }
  EXPECT_FALSE(stops(*asha, estimate(4, 20, 50.0))) << "passed rung 1, rung 2 is at 30";
  asha->on_exempt(estimate(7, 30, 1.0));
  asha->on_exempt(estimate(8, 30, 2.0));
  EXPECT_TRUE(stops(*asha, estimate(4, 30, 50.0)));
}

TEST(Asha, LeavesTheQuestionOpenWhileTheIntervalIsWide) {
  const auto asha = scheduler_of("asha");
  for (int trial = 1; trial <= 3; ++trial)
    asha->on_exempt(estimate(trial, 10, 1.0));
  EXPECT_FALSE(stops(*asha, estimate(9, 10, 1.5, k_unknown)));
  EXPECT_FALSE(stops(*asha, estimate(9, 12, 1.5, 0.6)));
  EXPECT_TRUE(stops(*asha, estimate(9, 14, 1.5, 0.4)));
}

TEST(Asha, DoesNotJudgeBelowTheFirstOrBeyondTheLastRung) {
  const auto asha = scheduler_of("asha");
  for (const double resource : {10.0, 30.0, 90.0, 270.0, 810.0}) {
    for (int trial = 1; trial <= 6; ++trial)
      asha->on_exempt(estimate(trial, resource, 1.0));
  }
  EXPECT_FALSE(stops(*asha, estimate(9, 9.9, 5.0)));
  const auto fresh = scheduler_of("asha");
  for (int trial = 1; trial <= 6; ++trial)
    fresh->on_exempt(estimate(trial, 1000, 1.0));
  EXPECT_THAT(fresh->on_estimate(estimate(9, 1000, 5.0)).reason, HasSubstr("rung 4 (270 steps)"));
}

TEST(Asha, RanksTwoObjectivesByFronts) {
  const auto asha = scheduler_of("asha");
  const auto two = [](std::int64_t trial, double a, double b, double half_width = 0.0) {
    return TrialEstimate{trial, 10, {a, b}, {half_width, half_width}};
  };
  asha->on_exempt(two(1, 1.0, 4.0));
  asha->on_exempt(two(2, 4.0, 1.0));
  asha->on_exempt(two(3, 5.0, 5.0));
  asha->on_exempt(two(4, 6.0, 6.0));
  asha->on_exempt(two(5, 7.0, 7.0));
  EXPECT_TRUE(stops(*asha, two(6, 4.5, 4.5))) << "second front; two of six go on";
  EXPECT_FALSE(stops(*asha, two(7, 4.5, 4.5, 5.0))) << "might be on the first";
  EXPECT_FALSE(stops(*asha, two(8, 0.5, 0.5)));
}

TEST(Asha, ATrialThatStartsAgainIsJudgedAgain) {
  const auto asha = scheduler_of("asha");
  EXPECT_FALSE(stops(*asha, estimate(1, 10, 5.0))) << "the first trial continues";
  asha->on_exempt(estimate(2, 10, 1.0));
  asha->on_exempt(estimate(3, 10, 1.0));
  EXPECT_FALSE(stops(*asha, estimate(1, 10, 5.0))) << "the trial has already passed this rung";
  asha->forget(1);
  asha->forget(99);
  EXPECT_TRUE(stops(*asha, estimate(1, 10, 5.0)));
}

TEST(Asha, ComparesWithNothingThatWasForgotten) {
  const auto asha = scheduler_of("asha");
  asha->on_exempt(estimate(2, 10, 1.0));
  asha->forget(2);
  EXPECT_FALSE(stops(*asha, estimate(1, 10, 5.0)));
}

TEST(Asha, JudgesNoValueThatIsNoNumberAndComparesWithNone) {
  const auto asha = scheduler_of("asha");
  asha->on_exempt({0, 10, {}, {}});
  asha->on_exempt(estimate(2, 10, 1.0));
  EXPECT_FALSE(stops(*asha, estimate(1, 10, NAN)));
  EXPECT_FALSE(stops(*asha, estimate(1, 10, INFINITY)));
  EXPECT_FALSE(stops(*asha, {1, 10, {}, {}}));
  EXPECT_TRUE(stops(*asha, estimate(1, 10, 2.0)));
}

TEST(Schedulers, TrialsThatWereJudgedServeTheOthersAsComparison) {
  for (const char* name : {"asha", "racing", "median"}) {
    const auto scheduler = scheduler_of(name);
    for (int trial = 0; trial < 3; ++trial)
      EXPECT_FALSE(stops(*scheduler, estimate(trial, 10, 1.0, 0.1))) << name;
    EXPECT_TRUE(stops(*scheduler, estimate(3, 10, 9.0, 0.1))) << name;
  }
}

TEST(Racing, StopsClearlySlowerTrials) {
  const auto racing = scheduler_of("racing");
  racing->on_exempt(estimate(0, 50, 1.0, 0.1));
  EXPECT_FALSE(stops(*racing, estimate(1, 20, 1.5, k_unknown)));
  EXPECT_FALSE(stops(*racing, estimate(1, 30, 1.5, 0.45)));
  const StopDecision decision = racing->on_estimate(estimate(1, 40, 1.5, 0.3));
  EXPECT_TRUE(decision.stop);
  EXPECT_THAT(decision.reason, HasSubstr("trial 0"));
  EXPECT_FALSE(stops(*racing, estimate(2, 40, 0.5, 0.1)));
}

TEST(Racing, NeedsToLoseEveryObjectiveToOneTrial) {
  const auto racing = scheduler_of("racing");
  racing->on_exempt({0, 50, {1.0, 5.0}, {0.1, 0.1}});
  racing->on_exempt({1, 50, {5.0, 1.0}, {0.1, 0.1}});
  EXPECT_FALSE(stops(*racing, {2, 50, {3.0, 3.0}, {0.1, 0.1}}));
  EXPECT_TRUE(stops(*racing, {3, 50, {6.0, 3.0}, {0.1, 0.1}}));
}

TEST(Median, StopsTrialsWorseThanTheMedian) {
  const auto median = scheduler_of("median");
  for (int trial = 0; trial < 3; ++trial) {
    for (const double resource : {10.0, 20.0, 40.0}) {
      // Estimates fall during trials: at 20 steps they are 20, 21, 22.
      median->on_exempt(estimate(trial, resource, 400.0 / resource + trial));
    }
  }
  EXPECT_FALSE(stops(*median, estimate(8, 5, 99.0))) << "before min_resource";
  EXPECT_FALSE(stops(*median, estimate(8, 20, 20.5)));
  EXPECT_FALSE(stops(*median, estimate(9, 20, 22.0, 2.0)));
  EXPECT_TRUE(stops(*median, estimate(9, 20, 22.0, 0.5)));
  EXPECT_FALSE(stops(*median, estimate(10, 50, 99.0))) << "no other trial got that far";
}

TEST(Racing, StopsNoTrialWithoutIntervals) {
  const auto racing = scheduler_of("racing");
  racing->on_exempt({1, 10, {1.0}, {0.1}});
  EXPECT_FALSE(racing->on_estimate({2, 10, {9.0}, {k_unknown}}).stop);
  EXPECT_FALSE(racing->on_estimate({2, 10, {std::nan("")}, {0.1}}).stop);
  EXPECT_FALSE(racing->on_estimate({2, 10, {}, {}}).stop);
  EXPECT_TRUE(racing->on_estimate({2, 10, {9.0}, {0.1}}).stop);
  racing->on_exempt({1, 20, {1.0}, {k_unknown}});
  EXPECT_FALSE(racing->on_estimate({3, 10, {9.5}, {k_unknown}}).stop);
}

TEST(Racing, IntervalsThatTouchAreNotApart) {
  const auto racing = scheduler_of("racing");
  racing->on_exempt({1, 10, {1.0}, {0.5}});
  EXPECT_FALSE(racing->on_estimate({2, 10, {2.0}, {0.5}}).stop);
  const StopDecision decision = racing->on_estimate({2, 10, {2.25}, {0.5}});
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "its 95 % interval is wholly worse than that of trial 1")
      << "\"above\" and numbers would be wrong for an objective to maximize";
}

TEST(Racing, ComparesWithNothingThatWasForgotten) {
  const auto racing = scheduler_of("racing");
  racing->on_exempt({1, 10, {1.0}, {0.1}});
  racing->forget(1);
  racing->forget(99);
  EXPECT_FALSE(racing->on_estimate({2, 10, {9.0}, {0.1}}).stop);
}

TEST(Median, NeedsThreeOthersThatGotAsFar) {
  const auto median = scheduler_of("median");
  for (std::int64_t other = 1; other <= 3; ++other)
    median->on_exempt({other, other == 3 ? 19.0 : 20.0, {1.0}, {0.0}});
  EXPECT_FALSE(median->on_estimate({4, 20, {9.0}, {0.0}}).stop);
  median->on_exempt({3, 20, {1.0}, {0.0}});
  const StopDecision decision = median->on_estimate({4, 20, {9.0}, {0.5}});
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason,
            "at 20 steps its 95 % interval is wholly worse than the median of the other trials");
  median->forget(3);
  EXPECT_FALSE(median->on_estimate({4, 20, {9.0}, {0.0}}).stop);
}

TEST(Median, AllowsForRoundingOfTheLeastResource) {
  const auto median = scheduler_of("median");
  const double nearly_10 = 10.0 * (1.0 - 1e-12);
  for (std::int64_t other = 1; other <= 3; ++other)
    median->on_exempt({other, nearly_10, {1.0}, {0.0}});
  EXPECT_TRUE(median->on_estimate({4, nearly_10, {9.0}, {0.0}}).stop);
  EXPECT_FALSE(median->on_estimate({5, 9.9, {9.0}, {0.0}}).stop);
}

TEST(Median, AnEvenCountGivesTheMeanOfTheMiddleTwo) {
  const auto median = scheduler_of("median");
  for (std::int64_t other = 1; other <= 4; ++other)
    median->on_exempt({other, 20, {static_cast<double>(other)}, {0.0}});
  EXPECT_FALSE(median->on_estimate({5, 20, {2.5}, {0.0}}).stop);
  EXPECT_FALSE(median->on_estimate({5, 20, {2.6}, {0.2}}).stop)
      << "the interval includes the median";
  EXPECT_TRUE(median->on_estimate({5, 20, {2.6}, {0.05}}).stop);
}

TEST(NoScheduler, NeverStops) {
  const auto none = scheduler_of("none");
  none->on_exempt(estimate(0, 100, 1.0));
  EXPECT_FALSE(stops(*none, estimate(1, 100, 9.0)));
}

TEST(MakeScheduler, RefusesUnknownNames) {
  EXPECT_THAT(make_scheduler("ahsa2", {}).error().text(), HasSubstr("schedulers: none, asha"));
}

TEST(ParetoRank, CountsWhatComesBefore) {
  using Values = std::vector<std::vector<double>>;
  EXPECT_EQ(rank_among(std::vector{2.0}, Values{{1.0}, {2.0}, {3.0}}), 1u);
  EXPECT_EQ(rank_among(std::vector{2.0, 2.0}, Values{}), 0u);
  EXPECT_EQ(rank_among(std::vector{3.0, 3.0}, Values{{1.0, 1.0}, {2.0, 2.0}, {4.0, 4.0}}), 2u);
  // All are on one front. The ends rank first, then the point whose neighbours are farther apart.
  EXPECT_EQ(rank_among(std::vector{5.0, 5.0}, Values{{0.0, 10.0}, {1.0, 9.0}, {10.0, 0.0}}), 2u);
}

TEST(ParetoRank, LessCrowdedPointsOfAFrontComeFirst) {
  using Values = std::vector<std::vector<double>>;
  const Values line{{0.0, 10.0}, {1.0, 9.0}, {2.0, 8.0}, {10.0, 0.0}};
  EXPECT_EQ(rank_among(std::vector{6.0, 4.0}, line), 2u) << "behind the two ends";
  EXPECT_EQ(rank_among(std::vector{1.5, 8.5}, line), 4u) << "in the densest place";
  EXPECT_EQ(rank_among(std::vector{-1.0, 11.0}, line), 0u) << "an end itself";
  EXPECT_EQ(rank_among(std::vector{11.0, -1.0}, line), 0u) << "and the other one";
}

TEST(ParetoRank, EqualValuesHaveTheFirstRank) {
  using Values = std::vector<std::vector<double>>;
  EXPECT_EQ(rank_among(std::vector{1.0, 1.0}, Values{{1.0, 1.0}, {1.0, 1.0}}), 0u);
  EXPECT_EQ(rank_among(std::vector{2.0}, Values{{2.0}, {2.0}}), 0u) << "ties do not lower the rank";
}

TEST(Dominates, RequiresNowhereWorseAndSomewhereBetter) {
  EXPECT_TRUE(dominates(std::vector{1.0, 2.0}, std::vector{2.0, 2.0}));
  EXPECT_FALSE(dominates(std::vector{1.0, 3.0}, std::vector{2.0, 2.0}));
  EXPECT_FALSE(dominates(std::vector{3.0, 1.0}, std::vector{2.0, 2.0}));
  EXPECT_FALSE(dominates(std::vector<double>{}, std::vector<double>{}));
}

}  // namespace
}  // namespace steptune
