// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/phase_cost.hpp"

#include <cmath>
#include <initializer_list>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

TEST(PhaseCost, PeriodicEventsCostTheSameWhereverTheWatchEnds) {
  PhaseEvents events;
  for (int i = 1; i <= 5; ++i)
    events.add(200.0 * i, 2.0);
  for (const double end : {1001.0, 1100.0, 1199.0}) {
    const PhaseCost cost = PhaseCost::of(events, 1.0, end, 1.0);
    EXPECT_TRUE(cost.periodic);
    EXPECT_DOUBLE_EQ(cost.seconds_per_sample, 2.0 / 200);
    EXPECT_LT(cost.half_width_s, 0.1 * cost.seconds_per_sample);
    EXPECT_EQ(cost.phase.period_samples, 200.0);
    EXPECT_EQ(cost.phase.period_error, 0.0);
  }
}

TEST(PhaseCost, TwoEventsAreAPeriodIfTheirGapEqualsTheFirstGap) {
  PhaseEvents events;
  events.add(200.0, 2.0);
  events.add(400.0, 2.0);
  EXPECT_TRUE(PhaseCost::of(events, 1.0, 500.0, 1.0).periodic);
  // If a counter did not start at 0, its first gap is unknown.
  EXPECT_FALSE(PhaseCost::of(events, 150.0, 500.0, 1.0).periodic);
}

TEST(PhaseCost, AnEventThatIsOverdueWasNotPeriodic) {
  PhaseEvents events;
  events.add(200.0, 2.0);
  events.add(400.0, 2.0);
  EXPECT_FALSE(PhaseCost::of(events, 1.0, 900.0, 1.0).periodic);
}

TEST(PhaseCost, TwoAdjacentEventsHaveNoPeriod) {
  PhaseEvents events;
  events.add(100.0, 1.0);
  events.add(101.0, 1.0);
  const PhaseCost cost = PhaseCost::of(events, 1.0, 201.0, 1.0);
  EXPECT_FALSE(cost.periodic);
  EXPECT_DOUBLE_EQ(cost.seconds_per_sample, 2.0 / 200);
  EXPECT_TRUE(std::isnan(cost.phase.period_samples)) << "a single gap shows no period";
  EXPECT_DOUBLE_EQ(cost.phase.spacing_samples, 100.0);
}

TEST(PhaseCost, OneEventGivesAWideInterval) {
  PhaseEvents events;
  events.add(300.0, 2.0);
  const PhaseCost cost = PhaseCost::of(events, 1.0, 500.0, 1.0);
  EXPECT_DOUBLE_EQ(cost.seconds_per_sample, 2.0 / 300);
  EXPECT_GT(cost.half_width_s, cost.seconds_per_sample);
  EXPECT_TRUE(std::isnan(cost.phase.period_samples));
  EXPECT_DOUBLE_EQ(cost.phase.spacing_samples, 300.0) << "the cost per sample assumes this spacing";
}

TEST(PhaseCost, AnEventAtTheStartAloneCostsNothingPerSample) {
  PhaseEvents events;
  events.add(1.0, 4.0);
  const PhaseCost cost = PhaseCost::of(events, 1.0, 20.0, 2.0);
  EXPECT_EQ(cost.seconds_per_sample, 0.0);
  EXPECT_EQ(cost.half_width_s, 0.0);
  EXPECT_EQ(cost.phase.count, 1.0);
  EXPECT_EQ(cost.phase.seconds, 4.0);
  EXPECT_TRUE(std::isnan(cost.phase.spacing_samples));
  // The counter may begin at 0, so this event came after 10 steps, and the next one is not overdue.
  PhaseEvents after_ten;
  after_ten.add(10.0, 4.0);
  EXPECT_GT(PhaseCost::of(after_ten, 1.0, 20.0, 9.0).seconds_per_sample, 0.0);
  // A run that goes on from step 1000 may begin with an evaluation.
  PhaseEvents resumed;
  resumed.add(1000.0, 4.0);
  EXPECT_EQ(PhaseCost::of(resumed, 1000.0, 1020.0, 2.0).seconds_per_sample, 0.0);
  events.add(500.0, 4.0);
  EXPECT_GT(PhaseCost::of(events, 1.0, 600.0, 2.0).seconds_per_sample, 0.0) << "it came again";
}

TEST(PhaseCost, EventsInTheFirstStepsAloneCostNothingPerSample) {
  PhaseEvents events;
  for (const double at : {64.0, 128.0, 192.0})
    events.add(at, 0.05);
  const PhaseCost cost = PhaseCost::of(events, 64.0, 832.0, 64.0);
  EXPECT_EQ(cost.seconds_per_sample, 0.0);
  EXPECT_EQ(cost.phase.count, 3.0);
  EXPECT_TRUE(std::isnan(cost.phase.spacing_samples));
  EXPECT_GT(PhaseCost::of(events, 64.0, 256.0, 64.0).seconds_per_sample, 0.0)
      << "so soon after them, the next event is not overdue";
}

/// Returns the share of watches of `watched` samples whose interval contains the true cost. Events
/// come randomly, every 100 samples on average, and take 1 s exactly, or 1 s on average.
double share_covered(double watched, bool durations_differ) {
  constexpr double k_gap = 100.0;
  constexpr int k_runs = 2000;
  int covered = 0, watches = 0;
  for (std::uint64_t run = 0; run < k_runs; ++run) {
    Rng rng(5, "phase_cost_test", run);
    PhaseEvents events;
    for (double at = 0.0;;) {
      at -= k_gap * std::log(1.0 - rng.uniform());
      if (at > watched) break;
      events.add(at, durations_differ ? -std::log(1.0 - rng.uniform()) : 1.0);
    }
    // An event that was never seen has no interval.
    if (events.count() == 0.0) continue;
    ++watches;
    const PhaseCost cost = PhaseCost::of(events, 0.0, watched, 1.0);
    covered += std::abs(cost.seconds_per_sample - 1.0 / k_gap) <= cost.half_width_s ? 1 : 0;
  }
  return covered / static_cast<double>(watches);
}

TEST(PhaseCost, RandomEventsHaveCorrectIntervals) {
  for (const double watched : {150.0, 300.0, 700.0, 3000.0}) {
    EXPECT_GE(share_covered(watched, false), 0.94) << watched;
    EXPECT_GE(share_covered(watched, true), 0.94) << watched << ", durations differ";
  }
}

TEST(PhaseCost, ManyEqualEventsHaveTheErrorOfTheirCount) {
  Rng rng(3, "phase_cost_test");
  PhaseEvents events;
  double at = 0.0;
  for (int i = 0; i < 400; ++i) {
    at -= 100.0 * std::log(1.0 - rng.uniform());
    events.add(at, 1.0);
  }
  const PhaseCost cost = PhaseCost::of(events, 0.0, at, 1.0);
  EXPECT_NEAR(cost.half_width_s / cost.seconds_per_sample, 1.96 / std::sqrt(400.0), 0.02);
}

TEST(PhaseCost, PeriodicEventsHaveTheErrorOfTheirDurations) {
  const auto of = [](double shortest, double longest) {
    PhaseEvents events;
    for (int i = 1; i <= 20; ++i)
      events.add(200.0 * i, i % 2 == 0 ? shortest : longest);
    return PhaseCost::of(events, 1.0, 4001.0, 1.0);
  };
  const PhaseCost alike = of(2.0, 2.0), spread = of(1.0, 3.0);
  EXPECT_DOUBLE_EQ(alike.seconds_per_sample, 0.01);
  EXPECT_DOUBLE_EQ(spread.seconds_per_sample, 0.01);
  EXPECT_EQ(alike.phase.spacing_samples, 200.0);
  // The durations' standard deviation is half of their mean. 2.1 is Student's 97.5 % quantile.
  EXPECT_NEAR(spread.half_width_s, 2.1 * 0.01 * 0.5 / std::sqrt(20.0), 2e-4);
  EXPECT_GT(alike.half_width_s, 0.0);
  EXPECT_LT(alike.half_width_s, 0.5 * spread.half_width_s);
}

TEST(PhaseCost, OnlySurelyEvenGapsNarrowTheInterval) {
  const auto relative_half_width = [](std::initializer_list<double> gaps) {
    PhaseEvents events;
    double at = 0.0;
    for (const double gap : gaps)
      events.add(at += gap, 1.0);
    const PhaseCost cost = PhaseCost::of(events, 0.0, at, 1.0);
    EXPECT_FALSE(cost.periodic);
    return cost.half_width_s / cost.seconds_per_sample;
  };
  // The 95 % interval of a Poisson count of ten ends at 1.84 times ten (Garwood 1936).
  EXPECT_GT(relative_half_width({10, 40, 20, 70, 15, 60, 25, 80, 30, 50}), 0.84);
  EXPECT_LT(relative_half_width({36, 44, 38, 43, 37, 42, 39, 45, 36, 40}), 0.5);
}

/// Durations of events that come at least once in 64 steps are assumed to scatter by 7 %, 1.4 times
/// the 5 % of rarer events.
TEST(PhaseCost, FrequentEventsAreAssumedToVaryMore) {
  const auto relative_half_width = [](double period, int count) {
    PhaseEvents events;
    for (int i = 1; i <= count; ++i)
      events.add(period * i, 1.0);
    const PhaseCost cost = PhaseCost::of(events, 0.0, period * count, 1.0);
    return cost.half_width_s / cost.seconds_per_sample;
  };
  EXPECT_NEAR(relative_half_width(64.0, 3), 1.4 * relative_half_width(65.0, 3), 1e-9);
  EXPECT_LT(relative_half_width(32.0, 200), 0.002);
}

TEST(PhaseCost, ManyRandomEventsGiveTheirMeanPeriod) {
  const auto of = [](int count) {
    PhaseEvents events;
    double at = 0.0;
    for (int i = 1; i <= count; ++i)
      events.add(at += i % 3 == 0 ? 20.0 : 180.0, 1.0);
    return PhaseCost::of(events, 0.0, at, 1.0).phase;
  };
  const PhaseEstimate many = of(60);
  EXPECT_NEAR(many.period_samples, 380.0 / 3.0, 1e-9);
  // 75.4 is the standard deviation of the gaps.
  EXPECT_NEAR(many.period_error, 75.4 / std::sqrt(60.0), 0.2);
  EXPECT_TRUE(std::isnan(of(3).period_samples)) << "three events are too few to show a period";
}

TEST(PhaseCost, EventsWithoutTimeCostNothing) {
  PhaseEvents periodic, random;
  for (int i = 1; i <= 5; ++i)
    periodic.add(200.0 * i, 0.0);
  for (const double at : {10.0, 300.0, 310.0})
    random.add(at, 0.0);
  for (const PhaseEvents& events : {periodic, random}) {
    const PhaseCost cost = PhaseCost::of(events, 1.0, 1001.0, 1.0);
    EXPECT_EQ(cost.seconds_per_sample, 0.0);
    EXPECT_EQ(cost.half_width_s, 0.0);
  }
}

TEST(PhaseCost, NoEventsCostNothing) {
  const PhaseCost cost = PhaseCost::of(PhaseEvents{}, 0.0, 100.0, 1.0);
  EXPECT_EQ(cost.seconds_per_sample, 0.0);
  EXPECT_EQ(cost.half_width_s, 0.0);
}

}  // namespace
}  // namespace steptune
