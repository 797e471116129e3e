// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_series.hpp"

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

Interval total_of(const ProgressSeries& series) {
  Interval total;
  for (const Interval& interval : series.intervals()) {
    total.samples += interval.samples;
    total.seconds += interval.seconds;
  }
  return total;
}

TEST(ProgressSeries, HasNoIntervalBelowTwoPoints) {
  ProgressSeries series;
  EXPECT_EQ(series.size(), 0U);
  EXPECT_TRUE(series.intervals().empty());
  EXPECT_TRUE(series.add(point_at(10, 1)));
  EXPECT_EQ(series.size(), 1U);
  EXPECT_TRUE(series.intervals().empty());
  EXPECT_EQ(series.back().samples, 10);
}

TEST(ProgressSeries, IgnoresPointsWithoutProgress) {
  ProgressSeries series;
  EXPECT_TRUE(series.add(point_at(10, 1)));
  EXPECT_FALSE(series.add(point_at(10, 2)));
  EXPECT_FALSE(series.add(point_at(9, 3)));
  EXPECT_TRUE(series.add(point_at(11, 4)));
  ASSERT_EQ(series.intervals().size(), 1U);
  EXPECT_EQ(series.intervals()[0].samples, 1);
  EXPECT_EQ(series.intervals()[0].seconds, 3);
}

TEST(ProgressSeries, KeepsTheFirstAndTheLatestPointWhateverTheirNumber) {
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
  const auto intervals = series.intervals();
  // All but the last one, which is still growing, cover equally many reports.
  for (std::size_t i = 0; i + 1 < intervals.size(); ++i)
    EXPECT_EQ(intervals[i].samples, 8) << i;
}

TEST(ProgressSeries, UsesTheTrialsClockOnlyWhereEveryPointHasIt) {
  ProgressSeries series;
  series.add(point_at(1, 10.0, 100.0));
  series.add(point_at(2, 11.5, 101.0));
  EXPECT_EQ(series.intervals()[0].seconds, 1.0);
  series.add(point_at(3, 12.0));
  EXPECT_EQ(series.intervals()[0].seconds, 1.5);
  EXPECT_EQ(series.intervals()[1].seconds, 0.5);
}

TEST(ProgressSeries, AClockInMillisecondsIsNotUsed) {
  ProgressSeries series;
  series.add(point_at(1, 0.0, 0.0));
  series.add(point_at(2, 1000.0, 1'000'000.0));
  EXPECT_EQ(series.intervals()[0].seconds, 1000.0);
}

TEST(ProgressSeries, TimeThatRunsBackwardsCountsAsNone) {
  ProgressSeries series;
  series.add(point_at(1, 5.0));
  series.add(point_at(2, 4.0));
  EXPECT_EQ(series.intervals()[0].seconds, 0.0);
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
