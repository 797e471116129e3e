// SPDX-License-Identifier: Apache-2.0
// Checks rates and deviations of a run against a direct computation, over fixed seeds.
#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tuner/follow/progress_track.hpp"

namespace steptune {
namespace {

/// Returns random seconds between reports of 64 samples each.
std::vector<double> random_intervals(Rng& rng, std::size_t count, double mean_s = 1.0) {
  std::vector<double> seconds(count);
  for (double& each : seconds)
    each = mean_s * (0.5 + rng.uniform());
  return seconds;
}

ProgressTrack track_of(const std::vector<double>& seconds, double begin_s = 0.0) {
  ProgressTrack track;
  TrackPoint at{64.0, begin_s};
  track.add(at);
  for (const double each : seconds) {
    at.samples += 64.0;
    at.time_s += each;
    track.add(at);
  }
  return track;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(TrackRate, IsTheMeanWithStudentsInterval) {
  for (std::size_t count = 5; count <= 20; ++count) {
    Rng rng(count, "intervals");
    const std::vector<double> seconds = random_intervals(rng, count);
    const auto rate = track_of(seconds).rate_since(0.0);
    ASSERT_TRUE(rate) << count;
    const double mean = mean_of(seconds);
    double squares = 0.0;
    for (const double each : seconds)
      squares += (each - mean) * (each - mean);
    const auto n = static_cast<double>(count);
    const double error = std::sqrt(squares / (n - 1.0) / n);
    const double t = boost::math::quantile(boost::math::students_t(n - 1.0), 0.975);
    EXPECT_NEAR(rate->value, mean / 64.0, 1e-12);
    EXPECT_NEAR(rate->half_width, t * error / 64.0, 1e-3 * rate->half_width) << count;
  }
}

TEST(TrackRate, ManyReportsMakeTwentyBatches) {
  Rng rng(3, "intervals");
  const std::vector<double> seconds = random_intervals(rng, 200);
  std::vector<double> batches;
  for (std::size_t i = 0; i < seconds.size(); i += 10) {
    const auto begin = seconds.begin() + static_cast<std::ptrdiff_t>(i);
    batches.push_back(mean_of({begin, begin + 10}));
  }
  const double mean = mean_of(batches);
  double squares = 0.0;
  for (const double batch : batches)
    squares += (batch - mean) * (batch - mean);
  const double t = boost::math::quantile(boost::math::students_t(19.0), 0.975);
  const auto rate = track_of(seconds).rate_since(0.0);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->half_width, t * std::sqrt(squares / 19.0 / 20.0) / 64.0,
              1e-3 * rate->half_width);
}

TEST(TrackRate, DoesNotDependOnWhenTheClockBegan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "intervals");
    const std::vector<double> seconds = random_intervals(rng, 5 + rng.below(500));
    const auto here = track_of(seconds).rate_since(0.0);
    const auto later = track_of(seconds, 1e6).rate_since(0.0);
    EXPECT_NEAR(later->value, here->value, 1e-9);
    EXPECT_NEAR(later->half_width, here->half_width, 1e-7);
  }
}

TEST(TrackRate, HasTheUnitOfItsTimes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "intervals");
    std::vector<double> seconds = random_intervals(rng, 5 + rng.below(100));
    const auto rate = track_of(seconds).rate_since(0.0);
    for (double& each : seconds)
      each *= 60.0;
    const auto slower = track_of(seconds).rate_since(0.0);
    EXPECT_NEAR(slower->value, 60.0 * rate->value, 1e-9);
    EXPECT_NEAR(slower->half_width, 60.0 * rate->half_width, 1e-9);
  }
}

TEST(TrackRate, NeedsFiveIntervals) {
  EXPECT_FALSE(ProgressTrack().rate_since(0.0));
  for (std::size_t count = 0; count < 5; ++count)
    EXPECT_FALSE(track_of(std::vector<double>(count, 1.0)).rate_since(0.0)) << count;
}

TEST(TrackRate, RateOfTheLastSecondsIsTheRateSinceThen) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "intervals");
    const ProgressTrack track = track_of(random_intervals(rng, 300));
    const double last_s = 20.0 + 200.0 * rng.uniform();
    const auto rate = track.rate_of_last(last_s, 0.0);
    const auto since = track.rate_since(track.back().time_s - last_s);
    ASSERT_TRUE(rate && since);
    EXPECT_EQ(rate->value, since->value);
    EXPECT_EQ(rate->half_width, since->half_width);
  }
}

TEST(TrackDeviation, IsTheLaterRateOverThePromise) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, "intervals");
    std::vector<double> seconds = random_intervals(rng, 50 + rng.below(200));
    const double factor = 0.6 + rng.uniform();
    const auto change = static_cast<std::ptrdiff_t>(rng.below(seconds.size() - 10));
    for (auto each = seconds.begin() + change; each != seconds.end(); ++each)
      *each *= factor;
    const ProgressTrack track = track_of(seconds);
    const Interval95 promised{1.0 / 64.0, 0.01 / 64.0};
    const auto deviation = track.deviation(promised, 0.0);
    if (!deviation) continue;
    ++found;
    const auto rate = track.rate_since(deviation->since.time_s);
    ASSERT_TRUE(rate);
    EXPECT_NEAR(deviation->ratio, rate->value / promised.value, 1e-9) << seed;
    EXPECT_GT(std::abs(rate->value - promised.value), promised.half_width) << seed;
    EXPECT_GT(std::abs(rate->value - promised.value), rate->half_width) << seed;
  }
  EXPECT_GT(found, 10);
}

TEST(TrackDeviation, ChangesWithinThePromisesIntervalDoNotCount) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "intervals");
    const std::vector<double> seconds(200, 0.95 + 0.1 * rng.uniform());
    EXPECT_FALSE(track_of(seconds).deviation({1.0 / 64.0, 0.051 / 64.0}, 0.0)) << seed;
    EXPECT_TRUE(
        track_of(std::vector<double>(200, 1.06)).deviation({1.0 / 64.0, 0.051 / 64.0}, 0.0));
  }
}

TEST(TrackDeviation, ReportsBeforeTheWarmUpEndsDoNotCount) {
  std::vector<double> seconds(300, 1.0);
  for (std::size_t i = 0; i < 100; ++i)
    seconds[i] = 5.0;
  const ProgressTrack track = track_of(seconds);
  EXPECT_FALSE(track.deviation({1.0 / 64.0, 0.001}, 500.0)) << "the warm-up took 500 s";
}

TEST(TrackPoints, KeptPointsGiveTheRateOfAllReports) {
  for (const std::size_t count : {1023U, 1024U, 1025U, 5000U, 40'000U}) {
    Rng rng(count, "intervals");
    const std::vector<double> seconds = random_intervals(rng, count);
    const auto rate = track_of(seconds).rate_since(0.0);
    ASSERT_TRUE(rate);
    EXPECT_NEAR(rate->value, mean_of(seconds) / 64.0, 0.01 / 64.0) << count;
    EXPECT_LT(std::abs(rate->value - 1.0 / 64.0), 2.0 * rate->half_width) << count;
  }
}

}  // namespace
}  // namespace steptune
