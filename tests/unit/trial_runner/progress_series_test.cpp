// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_series.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace steptune {
namespace {

ProgressPoint point_at(double samples, double received_s) {
  ProgressPoint point;
  point.samples = samples;
  point.received_s = received_s;
  return point;
}

ProgressPoint point_at(double samples, double received_s, double clock_s) {
  ProgressPoint point = point_at(samples, received_s);
  point.clock_s = clock_s;
  return point;
}

std::vector<Interval> intervals_of(const ProgressSeries& series) {
  return series.intervals(series.distinct_points());
}

Interval total_of(const ProgressSeries& series) {
  Interval total;
  for (const Interval& interval : intervals_of(series)) {
    total.samples += interval.samples;
    total.seconds += interval.seconds;
  }
  return total;
}

TEST(ProgressSeries, HasNoIntervalBelowTwoPoints) {
  ProgressSeries series;
  EXPECT_EQ(series.size(), 0U);
  EXPECT_TRUE(intervals_of(series).empty());
  EXPECT_TRUE(series.add(point_at(10, 1)));
  EXPECT_EQ(series.size(), 1U);
  EXPECT_TRUE(intervals_of(series).empty());
  EXPECT_EQ(series.back().samples, 10);
}

TEST(ProgressSeries, IgnoresPointsWithoutProgress) {
  ProgressSeries series;
  EXPECT_TRUE(series.add(point_at(10, 1)));
  EXPECT_FALSE(series.add(point_at(10, 2)));
  EXPECT_FALSE(series.add(point_at(9, 3)));
  EXPECT_TRUE(series.add(point_at(11, 4)));
  ASSERT_EQ(intervals_of(series).size(), 1U);
  EXPECT_EQ(intervals_of(series)[0].samples, 1);
  EXPECT_EQ(intervals_of(series)[0].seconds, 3);
}

TEST(ProgressSeries, KeepsTheFirstAndTheLatestPoint) {
  ProgressSeries series;
  for (int i = 0; i <= 100'000; ++i) {
    ASSERT_TRUE(series.add(point_at(2.0 * i + 1, 0.5 * i)));
    ASSERT_LE(series.size(), 1024U);
    ASSERT_EQ(series.back().samples, 2.0 * i + 1);
  }
  EXPECT_EQ(series[0].samples, 1);
  EXPECT_GE(series.size(), 512U);
  EXPECT_EQ(total_of(series).samples, 200'000);
  EXPECT_EQ(total_of(series).seconds, 50'000);
}

TEST(ProgressSeries, ThinningMergesNeighboursEvenly) {
  ProgressSeries series;
  for (int i = 0; i < 5000; ++i)
    series.add(point_at(i, i));
  const auto intervals = intervals_of(series);
  // The 5,000 reports reach the limit of 1,024 points three times, so that every eighth is kept.
  // The last interval still grows.
  for (std::size_t i = 0; i + 1 < intervals.size(); ++i)
    EXPECT_EQ(intervals[i].samples, 8) << i;
}

TEST(ProgressSeries, ThinningKeepsThePartsOfTheFirstPoint) {
  ProgressSeries series;
  for (int i = 1; i <= 2000; ++i) {
    ProgressPoint point = point_at(i, i);
    point.parts["data"] = 5.0 + i;
    series.add(std::move(point));
  }
  EXPECT_EQ(series[0].parts, (std::map<std::string, double>{{"data", 6.0}}));
}

TEST(ProgressSeries, UsesTheTrialsClockIfEveryPointHasIt) {
  ProgressSeries series;
  series.add(point_at(1, 10.0, 100.0));
  series.add(point_at(2, 11.5, 101.0));
  EXPECT_EQ(intervals_of(series)[0].seconds, 1.0);
  series.add(point_at(3, 12.0));
  EXPECT_EQ(intervals_of(series)[0].seconds, 1.5);
  EXPECT_EQ(intervals_of(series)[1].seconds, 0.5);
}

TEST(ProgressSeries, AClockInMillisecondsIsNotUsed) {
  ProgressSeries series;
  series.add(point_at(1, 0.0, 0.0));
  series.add(point_at(2, 1000.0, 1'000'000.0));
  EXPECT_EQ(intervals_of(series)[0].seconds, 1000.0);
}

TEST(ProgressSeries, TimeThatRunsBackwardsMakesNoInterval) {
  ProgressSeries series;
  series.add(point_at(1, 5.0));
  series.add(point_at(2, 4.0));
  EXPECT_TRUE(intervals_of(series).empty());
}

TEST(ProgressSeries, UsesTheLastOfPointsThatArriveTogether) {
  ProgressSeries series;
  for (int i = 1; i <= 100; ++i)
    series.add(point_at(i, std::ceil(i / 10.0)));
  const auto intervals = intervals_of(series);
  // The points arrive at ten times. The last group may be incomplete, so it is left out; eight
  // intervals lie between the other nine.
  ASSERT_EQ(intervals.size(), 8U);
  for (const Interval& interval : intervals) {
    EXPECT_EQ(interval.samples, 10.0);
    EXPECT_EQ(interval.seconds, 1.0);
  }
}

TEST(ProgressSeries, PointsAreNotMergedBesideALongPause) {
  ProgressSeries series;
  for (int i = 1; i <= 600; ++i)
    series.add(point_at(i, 0.1 * i));
  for (int i = 601; i <= 800; ++i)
    series.add(point_at(i, 6000.0 + 0.1 * i));
  EXPECT_GT(intervals_of(series).size(), 40U);
}

TEST(ProgressSeries, PhasesAreNoPartOfIntervals) {
  ProgressSeries series;
  series.add(point_at(1, 5.0));
  ProgressPoint after = point_at(2, 9.0);
  after.phase_s = 3.0;
  series.add(std::move(after));
  EXPECT_EQ(intervals_of(series)[0].seconds, 1.0);
}

TEST(ClockComparison, TrustsAClockIfLinesArriveLateInBursts) {
  ClockComparison clock;
  for (int i = 1; i <= 100; ++i)
    clock.add(std::ceil(i / 10.0), 500.0 + 0.1 * i);
  EXPECT_TRUE(clock.is_trusted());
}

TEST(ClockComparison, RefusesAClockThatJumpsOrGoesBack) {
  ClockComparison jumps;
  for (int i = 1; i <= 100; ++i)
    jumps.add(0.1 * i, 0.1 * i + (i > 50 ? 20.0 : 0.0));
  EXPECT_NE(jumps.fault().find("was set"), std::string::npos);
  ClockComparison back;
  for (int i = 1; i <= 100; ++i)
    back.add(0.1 * i, 0.1 * i + (i % 2 == 0 ? 37.5 : 0.0));
  EXPECT_NE(back.fault().find("goes back"), std::string::npos);
}

TEST(CounterRestart, IsACountFarBelowTheLast) {
  CounterRestart restart;
  for (int i = 1; i < 10; ++i)
    EXPECT_FALSE(restart.is_seen(i, 1000.0)) << i;
  EXPECT_FALSE(restart.is_seen(9.0, 1000.0)) << "a repeated count is no further report";
  EXPECT_TRUE(restart.is_seen(10.0, 1000.0));
  EXPECT_FALSE(restart.is_seen(11.0, 10.0));
}

TEST(CounterRestart, IsNotSeenInMixedLinesOfSeveralProcesses) {
  CounterRestart restart;
  for (int i = 1; i < 100; ++i) {
    EXPECT_FALSE(restart.is_seen(i, 1000.0 + i));
    EXPECT_FALSE(restart.is_seen(1000.0 + i, 1000.0 + i)) << "in turn";
  }
  for (int i = 900; i < 950; ++i)
    EXPECT_FALSE(restart.is_seen(i, 1000.0)) << "a little behind";
}

TEST(ProgressSeries, StartsAgainAfterClear) {
  ProgressSeries series;
  series.add(point_at(100, 1.0));
  series.add(point_at(200, 2.0));
  series.clear();
  EXPECT_EQ(series.size(), 0U);
  EXPECT_TRUE(series.add(point_at(5, 9.0)));
  EXPECT_EQ(series[0].samples, 5);
}

}  // namespace
}  // namespace steptune
