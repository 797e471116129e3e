// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/slowdown_watch.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

/// Simulated launch times of a year of nights.
struct Nights {
  double launch = 0.015;  ///< standard deviation among launches
  double common = 0.004;  ///< standard deviation that incumbent and baseline share in a night
  std::int64_t season_begins = 0, season_ends = 0;
  double season_factor = 3.0;
  std::int64_t slower_from = 0;
  double incumbent_factor = 1.0, baseline_factor = 1.0;
  int launches = 2;
};

class Player {
 public:
  Player(const Nights& nights, std::uint64_t seed) : nights_(nights), rng_(seed, "nights") {}

  /// Plays one more night like `retune`, which measures again after a suspicious night.
  SlowdownWatch play() {
    const std::int64_t night = ++night_;
    const bool season = night >= nights_.season_begins && night <= nights_.season_ends;
    const double factor = season ? nights_.season_factor : 1.0;
    const bool slower = nights_.slower_from > 0 && night >= nights_.slower_from;
    const double common = factor * nights_.common * rng_.normal();
    NightTimes times{night, {}, {}};
    const auto launch = [&](int count) {
      for (int i = 0; i < count; ++i) {
        times.incumbent.push_back(common + (slower ? std::log(nights_.incumbent_factor) : 0.0) +
                                  factor * nights_.launch * rng_.normal());
        times.baseline.push_back(1.0 + common + (slower ? std::log(nights_.baseline_factor) : 0.0) +
                                 factor * nights_.launch * rng_.normal());
      }
    };
    launch(nights_.launches);
    const SlowdownWatcher before = watcher_;
    SlowdownWatch watch = watcher_.add(times);
    if (!watch.suspicious) return watch;
    launch(3);
    watcher_ = before;
    return watcher_.add(times);
  }

 private:
  Nights nights_;
  Rng rng_;
  SlowdownWatcher watcher_;
  std::int64_t night_ = 0;
};

/// Returns the first alarm within `nights`, if any.
std::optional<SlowdownWatch> first_alarm(const Nights& how, std::uint64_t seed, std::int64_t nights,
                                         std::int64_t* at) {
  Player player(how, seed);
  for (*at = 1; *at <= nights; ++*at) {
    const SlowdownWatch watch = player.play();
    if (watch.slowdown) return watch;
  }
  return std::nullopt;
}

int alarms(const Nights& how, int years) {
  int count = 0;
  for (int year = 0; year < years; ++year) {
    Player player(how, static_cast<std::uint64_t>(year));
    for (int night = 0; night < 365; ++night)
      count += player.play().slowdown ? 1 : 0;
  }
  return count;
}

TEST(SlowdownWatch, QuietYearsHaveAlmostNoAlarm) {
  EXPECT_LE(alarms({}, 30), 6);
}

TEST(SlowdownWatch, ASeasonOfNoiseIsNoSlowdown) {
  Nights noisy;
  noisy.season_begins = 60;
  noisy.season_ends = 150;
  EXPECT_LE(alarms(noisy, 20), 6);
}

TEST(SlowdownWatch, NightsOfOtherLaunchVariationAreNoSlowdown) {
  Nights calm;
  calm.launch = 0.004;
  Nights wild;
  wild.launch = 0.05;
  EXPECT_LE(alarms(calm, 10) + alarms(wild, 10), 4);
}

TEST(SlowdownWatch, IntervalsCoverTheTruthAfterFewNights) {
  // Twice as noisy as assumed at first, and slower by so much that the alarm is no coincidence.
  Nights slower;
  slower.launch = 0.03;
  slower.common = 0.01;
  slower.slower_from = 4;
  slower.incumbent_factor = slower.baseline_factor = 3.0;
  int alarm_count = 0, covering_count = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    std::int64_t night = 0;
    const auto watch = first_alarm(slower, seed, 4, &night);
    if (!watch) continue;
    ++alarm_count;
    const Slowdown& slowdown = *watch->slowdown;
    covering_count += slowdown.low <= 3.0 && 3.0 <= slowdown.high ? 1 : 0;
  }
  EXPECT_GT(alarm_count, 990);
  EXPECT_GE(covering_count, alarm_count * 92 / 100) << covering_count << " of " << alarm_count;
}

TEST(SlowdownWatch, ATenthIsNoticedTheSameNightWithItsCause) {
  for (const bool shared : {true, false}) {
    Nights slower;
    slower.slower_from = 60;
    slower.incumbent_factor = 1.12;
    slower.baseline_factor = shared ? 1.12 : 1.0;
    int same_night = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::int64_t at = 0;
      const auto watch = first_alarm(slower, seed, 70, &at);
      ASSERT_TRUE(watch);
      if (at != 60) continue;
      ++same_night;
      EXPECT_EQ(watch->slowdown->since, 60);
      EXPECT_NEAR(watch->slowdown->ratio, 1.12, 0.04);
      EXPECT_LT(watch->slowdown->low, 1.12);
      EXPECT_GT(watch->slowdown->high, 1.12);
      EXPECT_EQ(watch->slowdown->scope,
                shared ? SlowdownScope::shared : SlowdownScope::configuration);
    }
    EXPECT_GE(same_night, 18);
  }
}

TEST(SlowdownWatch, AFewPerCentAreNoticedWithinDays) {
  Nights slower;
  slower.slower_from = 60;
  slower.incumbent_factor = slower.baseline_factor = 1.03;
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::int64_t at = 0;
    const auto watch = first_alarm(slower, seed, 75, &at);
    if (!watch || at < 60) continue;
    ++noticed;
    EXPECT_GE(watch->slowdown->since, 55);
  }
  EXPECT_GE(noticed, 17);
}

TEST(SlowdownWatch, ASlowdownIsReportedOnce) {
  Nights slower;
  slower.slower_from = 60;
  slower.incumbent_factor = slower.baseline_factor = 1.2;
  Player player(slower, 3);
  int alarm_count = 0;
  for (int night = 1; night <= 200; ++night)
    alarm_count += player.play().slowdown ? 1 : 0;
  EXPECT_EQ(alarm_count, 1);
}

TEST(SlowdownWatch, AfterFasterNightsASlowerOneIsMeasuredAgainstThem) {
  SlowdownWatcher watcher;
  Rng rng(5, "faster");
  for (std::int64_t night = 1; night <= 60; ++night) {
    const double level = night <= 30 ? 0.2 : night <= 50 ? 0.0 : 0.15;
    NightTimes times{night, {}, {}};
    for (int launch = 0; launch < 4; ++launch) {
      times.incumbent.push_back(level + 0.015 * rng.normal());
      times.baseline.push_back(1.0 + level + 0.015 * rng.normal());
    }
    EXPECT_EQ(watcher.add(times).slowdown.has_value(), night == 51) << night;
  }
}

TEST(SlowdownWatch, ABaselineThatCatchesUpIsNoSlowdown) {
  Nights times;
  times.slower_from = 40;
  times.baseline_factor = 0.8;
  Player player(times, 1);
  int shrank = 0;
  for (int night = 1; night <= 60; ++night) {
    const SlowdownWatch watch = player.play();
    EXPECT_FALSE(watch.slowdown);
    shrank += watch.lead_shrank ? 1 : 0;
  }
  EXPECT_EQ(shrank, 1);
}

TEST(SlowdownWatch, WithoutABaselineTheCauseIsUnknown) {
  SlowdownWatcher watcher;
  SlowdownWatch watch;
  Rng rng(9, "alone");
  // With a single launch per night, a change is accepted on the second night.
  for (std::int64_t night = 1; night <= 30; ++night)
    watch = watcher.add({night, {(night < 29 ? 0.0 : 0.3) + 0.01 * rng.normal()}, {}});
  ASSERT_TRUE(watch.slowdown);
  EXPECT_EQ(watch.slowdown->scope, SlowdownScope::unknown);
  EXPECT_FALSE(watch.slowdown->baseline_ratio);
}

TEST(SlowdownWatch, ANewBaselineLeavesTheCauseUnknown) {
  SlowdownWatcher watcher;
  SlowdownWatch watch;
  Rng rng(9, "alone before");
  for (std::int64_t night = 1; night <= 30 && !watch.slowdown; ++night) {
    const double level = night < 29 ? 0.0 : 0.3;
    NightTimes times{night, {level + 0.01 * rng.normal()}, {}};
    if (night >= 29) times.baseline = {1.0 + 0.01 * rng.normal()};
    watch = watcher.add(std::move(times));
  }
  ASSERT_TRUE(watch.slowdown);
  EXPECT_EQ(watch.slowdown->scope, SlowdownScope::unknown);
  EXPECT_FALSE(watch.slowdown->baseline_ratio) << "the baseline need not have slowed down";
}

TEST(SlowdownWatch, ASingleNightSaysNothing) {
  const SlowdownWatch watch = SlowdownWatcher().add({1, {0.0}, {1.0}});
  EXPECT_FALSE(watch.slowdown);
  EXPECT_FALSE(watch.suspicious);
}

}  // namespace
}  // namespace steptune
