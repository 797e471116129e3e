// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/progress_track.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

/// Adds `count` reports of a run with `seconds` per sample and 5 % of noise.
void run(ProgressTrack& track, TrackPoint& at, int count, double seconds, Rng& rng) {
  for (int i = 0; i < count; ++i) {
    at.samples += 64.0;
    at.time_s += 64.0 * seconds * (1.0 + 0.05 * rng.normal());
    track.add(at);
  }
}

TEST(ProgressTrack, ALongRunKeepsItsEndsAndItsRate) {
  ProgressTrack track;
  for (int i = 0; i < 100'000; ++i)
    track.add({64.0 * i, 0.1 * i});
  EXPECT_EQ(track.front().samples, 0.0);
  EXPECT_EQ(track.back().samples, 64.0 * 99'999);
  const auto rate = track.rate_since(0.0);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->value, 0.1 / 64.0, 1e-9);
  EXPECT_NEAR(rate->half_width, 0.0, 1e-9);
}

TEST(ProgressTrack, LeavesOutReportsWithoutProgress) {
  ProgressTrack track;
  track.add({64.0, 1.0});
  track.add({64.0, 2.0});
  track.add({128.0, 0.5});
  EXPECT_EQ(track.back().time_s, 1.0);
  EXPECT_FALSE(track.rate_since(0.0)) << "too few for an interval";
  track.add({192.0, 1.0});
  EXPECT_EQ(track.back().samples, 192.0) << "two lines that came at once";
}

/// Returns a track with a report per second, of 64 samples until `change` and of 32 after it.
ProgressTrack halved_after(int change, int count) {
  ProgressTrack track;
  double samples = 0.0;
  for (int i = 0; i <= count; ++i) {
    track.add({samples, 1.0 * i});
    samples += i < change ? 64.0 : 32.0;
  }
  return track;
}

TEST(ProgressTrack, RatesCountFromTheGivenTimeOn) {
  const ProgressTrack track = halved_after(100, 300);
  ASSERT_TRUE(track.rate_since(100.0));
  EXPECT_NEAR(track.rate_since(100.0)->value, 1.0 / 32.0, 1e-12);
  EXPECT_NEAR(track.rate_since(100.0)->half_width, 0.0, 1e-12);
  EXPECT_NEAR(track.rate_since(0.0)->value, 300.0 / (100 * 64.0 + 200 * 32.0), 1e-12);
  EXPECT_TRUE(track.rate_since(295.0)) << "five intervals are enough for a spread";
  EXPECT_FALSE(track.rate_since(296.0));
}

TEST(ProgressTrack, TheLastSecondsAreTenReportsAtLeast) {
  const ProgressTrack track = halved_after(260, 300);
  EXPECT_NEAR(track.rate_of_last(60.0, 0.0)->value, 60.0 / (20 * 64.0 + 40 * 32.0), 1e-12);
  EXPECT_NEAR(track.rate_of_last(60.0, 260.0)->value, 1.0 / 32.0, 1e-12) << "not the warm-up";
  const ProgressTrack late = halved_after(296, 300);
  EXPECT_NEAR(late.rate_of_last(3.0, 0.0)->value, 10.0 / (6 * 64.0 + 4 * 32.0), 1e-12);
}

/// Returns a track of `count` reports of 64 samples every tenth of a second, received at
/// `reported_at(seconds)`. Reading a report takes `read_s`.
template <typename ToldAt>
ProgressTrack track_of_reports(int count, ToldAt&& reported_at, double read_s = 1e-6) {
  ProgressTrack track;
  for (int i = 1; i <= count; ++i)
    track.add({64.0 * i, reported_at(0.1 * i) + read_s * i});
  return track;
}

TEST(ProgressTrack, UsesTheLastOfReportsThatArriveTogether) {
  const Interval95 promised{0.1 / 64.0, 0.002 / 64.0};
  const auto by_the_second = [](double at_s) { return std::floor(at_s); };
  const auto by_the_buffer = [](double at_s) { return 5.0 * std::ceil(at_s / 5.0 - 1e-9); };
  for (const int count : {305, 505, 995, 4005}) {
    for (const ProgressTrack& track :
         {track_of_reports(count, by_the_second), track_of_reports(count, by_the_buffer)}) {
      const auto rate = track.rate_since(0.0);
      ASSERT_TRUE(rate) << count;
      EXPECT_NEAR(rate->value, promised.value, 0.05 * promised.value) << count;
      EXPECT_FALSE(track.deviation(promised, 0.0)) << count;
      const auto slower = track.deviation({0.05 / 64.0, 0.002 / 64.0}, 0.0);
      ASSERT_TRUE(slower) << count;
      EXPECT_NEAR(slower->ratio, 2.0, 0.1) << count;
    }
  }
}

TEST(ProgressTrack, ReportsOfABufferAreTogetherHoweverLongReadingThemTakes) {
  const auto by_the_buffer = [](double at_s) { return 5.0 * std::ceil(at_s / 5.0 - 1e-9); };
  // Each buffer has 50 reports, so the last one is read 5 ms after the first.
  const auto rate = track_of_reports(305, by_the_buffer, 1e-4).rate_since(0.0);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->value, 0.1 / 64.0, 0.01 * 0.1 / 64.0);
}

TEST(ProgressTrack, ReportsAtOneTimeGiveNoRate) {
  const ProgressTrack track = track_of_reports(100, [](double) { return 7.0; });
  ProgressTrack exactly;
  for (int i = 1; i <= 100; ++i)
    exactly.add({64.0 * i, 7.0});
  EXPECT_FALSE(exactly.rate_since(0.0));
  EXPECT_FALSE(exactly.rate_of_last(60.0, 0.0));
  EXPECT_FALSE(exactly.deviation({1.0, 0.1}, 0.0));
  EXPECT_TRUE(track.rate_since(0.0)) << "a microsecond each is a time";
}

TEST(ProgressTrack, ReportsAreNotMergedAfterAPause) {
  ProgressTrack track;
  for (int i = 1; i <= 600; ++i)
    track.add({64.0 * i, 0.1 * i});
  for (int i = 601; i <= 800; ++i)
    track.add({64.0 * i, 6000.0 + 0.1 * i});
  ASSERT_TRUE(track.rate_since(6000.0));
  EXPECT_NEAR(track.rate_since(6000.0)->value, 0.1 / 64.0, 1e-9);
}

TEST(ProgressTrack, CoversAllOfALongRun) {
  const ProgressTrack track = halved_after(10'000, 100'000);
  const auto found = track.deviation({1.0 / 64.0, 1e-4}, 0.0);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->since.time_s, 10'000.0, 200.0);
  EXPECT_NEAR(found->ratio, 2.0, 1e-2);
  EXPECT_NEAR(track.rate_since(50'000.0)->value, 1.0 / 32.0, 1e-12);
  EXPECT_NEAR(track.rate_since(50'000.0)->half_width, 0.0, 1e-12);
}

TEST(ProgressTrack, ARunThatIsFasterFromTheStartDeviatesFromTheStart) {
  const ProgressTrack track = halved_after(300, 300);
  const auto found = track.deviation({1.0 / 48.0, 1e-4}, 0.0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->since.time_s, 0.0);
  EXPECT_NEAR(found->ratio, 0.75, 1e-9);
}

TEST(ProgressTrack, IntervalsCoverTheTrueRate) {
  Rng rng(7, "track");
  int held = 0;
  constexpr int k_runs = 1000;
  for (int i = 0; i < k_runs; ++i) {
    ProgressTrack track;
    TrackPoint at;
    track.add(at);
    run(track, at, 300, 0.01, rng);
    const auto rate = track.rate_since(0.0);
    held += rate->low() <= 0.01 && 0.01 <= rate->high() ? 1 : 0;
  }
  EXPECT_GT(held, 930);
  EXPECT_LT(held, 970);
}

TEST(ProgressTrack, FindsWhereARunGotSlower) {
  Rng rng(8, "track");
  ProgressTrack track;
  TrackPoint at;
  track.add(at);
  run(track, at, 500, 0.01, rng);
  const double change = at.samples;
  run(track, at, 300, 0.0112, rng);
  const auto found = track.deviation({0.01, 0.0003}, 0.0);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->since.samples, change, 20 * 64.0);
  EXPECT_NEAR(found->ratio, 1.12, 0.01);
}

TEST(ProgressTrack, AConstantRateShowsNoDeviation) {
  Rng rng(9, "track");
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    ProgressTrack track;
    TrackPoint at;
    track.add(at);
    run(track, at, 300, 0.01, rng);
    found += track.deviation({0.01, 0.0002}, 0.0).has_value() ? 1 : 0;
  }
  EXPECT_LE(found, 20);
}

}  // namespace
}  // namespace steptune
