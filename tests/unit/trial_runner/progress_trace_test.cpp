// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/progress_trace.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "common/rng.hpp"

namespace steptune {
namespace {

Report counted(double received_s, double samples) {
  Report report;
  report.received_s = received_s;
  report.samples = samples;
  return report;
}

Report phase_of(double received_s, std::optional<double> seconds) {
  Report report;
  report.received_s = received_s;
  report.phase = PhaseReport{"evaluation", seconds};
  return report;
}

/// Returns the start of the longest time between two points, and its length in `seconds`.
TracePoint longest_wait(const std::vector<TracePoint>& points, double& seconds) {
  TracePoint begin;
  seconds = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].at_s - points[i - 1].at_s <= seconds) continue;
    seconds = points[i].at_s - points[i - 1].at_s;
    begin = points[i - 1];
  }
  return begin;
}

TEST(ProgressTrace, AShortOneKeepsEveryPoint) {
  ProgressTracer tracer(10.0, std::nullopt);
  for (int i = 1; i <= 100; ++i)
    tracer.add(counted(10.0 + i, 4.0 * i));
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.points.size(), 100U);
  EXPECT_EQ(trace.points.front(), (TracePoint{1.0, 4.0, 4.0}));
  EXPECT_EQ(trace.points.back().at_s, 100.0);
}

/// 40 slow steps of warm-up, then 20 000 noisy ones with a stall of 30 steps after each 5 000.
TEST(ProgressTrace, ALongOneLosesNeitherWarmUpNorStallsNorTheWindow) {
  ProgressTracer tracer(0.0, std::nullopt);
  Rng rng(7, "trace", 0);
  double now_s = 5.0;
  double window_begin_s = 0.0;
  std::vector<double> stalls_s;
  for (int step = 1; step <= 20'040; ++step) {
    if (step <= 40) {
      now_s += 1.0;
    } else {
      now_s += 0.1 * (1.0 + 0.2 * (rng.uniform() - 0.5));
    }
    if (step == 3'000) window_begin_s = now_s;
    if (step % 5'000 == 0) {
      stalls_s.push_back(now_s);
      now_s += 3.0;
    }
    tracer.add(counted(now_s, 8.0 * step));
  }
  const std::array kept_s{window_begin_s};
  const ProgressTrace trace = tracer.trace(kept_s);
  ASSERT_LE(trace.points.size(), k_most_trace_points);
  ASSERT_GT(trace.points.size(), k_most_trace_points - 10);
  EXPECT_EQ(trace.points.front().at_s, 6.0);
  EXPECT_DOUBLE_EQ(trace.points.back().at_s, now_s);
  EXPECT_DOUBLE_EQ(trace.points.back().samples, 8.0 * 20'040);
  EXPECT_TRUE(std::ranges::is_sorted(trace.points, {}, &TracePoint::at_s));
  for (const double stall_s : stalls_s) {
    const auto after = std::ranges::upper_bound(trace.points, stall_s + 0.2, {}, &TracePoint::at_s);
    ASSERT_NE(after, trace.points.begin());
    const auto before = after - 1;
    EXPECT_GT(after->at_s - before->at_s, 2.9) << "the stall is recorded";
    EXPECT_LT(after->at_s - before->at_s, 5.0) << "and not diluted by steps";
  }
  // The corner where the warm-up ends.
  EXPECT_TRUE(std::ranges::any_of(trace.points, [](const TracePoint& point) {
    return std::abs(point.samples - 8.0 * 40) <= 8.0 * 3;
  }));
  EXPECT_TRUE(std::ranges::any_of(trace.points, [&](const TracePoint& point) {
    return std::abs(point.at_s - window_begin_s) < 20.0;
  }));
}

TEST(ProgressTrace, ThinningKeepsThePointsAtTheGivenTimes) {
  std::vector<TracePoint> points;
  for (int i = 0; i < 1'000; ++i)
    points.push_back({1.0 * i, 2.0 * i, 1.0 * i});
  const std::array kept_s{123.2, 777.9};
  const auto few = thinned(points, 4, kept_s);
  ASSERT_EQ(few.size(), 4U);
  EXPECT_EQ(few[1].at_s, 123.0);
  EXPECT_EQ(few[2].at_s, 778.0);
}

/// Thins a trace by the definition, in quadratic time: while there are too many points, removes the
/// inner point whose triangle with its neighbours is the smallest.
std::vector<TracePoint> thinned_one_by_one(std::vector<TracePoint> points, std::size_t most) {
  const auto area = [&](std::size_t i) {
    const TracePoint &a = points[i - 1], &b = points[i], &c = points[i + 1];
    return std::abs((b.at_s - a.at_s) * (c.samples - a.samples) -
                    (c.at_s - a.at_s) * (b.samples - a.samples));
  };
  while (points.size() > most) {
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < points.size(); ++i)
      if (area(i) < area(least)) least = i;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return points;
}

TEST(ProgressTrace, ThinningLeavesOutTheSmallestTriangleEachTime) {
  Rng rng(5, "thinning");
  for (int run = 0; run < 20; ++run) {
    std::vector<TracePoint> points;
    TracePoint point;
    for (int i = 0; i < 60; ++i) {
      point = {point.at_s + rng.uniform(), point.samples + 10.0 * rng.uniform(), 1.0 * i};
      points.push_back(point);
    }
    for (const std::size_t most : {2U, 3U, 20U, 59U, 60U})
      EXPECT_EQ(thinned(points, most), thinned_one_by_one(points, most)) << most;
  }
}

TEST(ProgressTrace, KeepsTheLongestOfManyPhases) {
  ProgressTracer tracer(0.0, std::nullopt);
  tracer.add(counted(0.5, 10));
  for (int i = 1; i <= 300; ++i)
    tracer.add(phase_of(1000.0 * i, i % 3 == 0 ? 1.0 : 1.0 + i));
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.phases.size(), 200U);
  for (const TracePhase& phase : trace.phases)
    EXPECT_GT(phase.to_s - phase.from_s, 1.5);
}

TEST(ProgressTrace, APhaseEndsWhereAnotherBegins) {
  ProgressTracer tracer(0.0, std::nullopt);
  tracer.add(counted(1.0, 10));
  tracer.add(phase_of(2.0, std::nullopt));
  Report checkpoint;
  checkpoint.received_s = 5.0;
  checkpoint.phase = PhaseReport{"checkpoint", std::nullopt};
  tracer.add(checkpoint);
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.phases.size(), 2U);
  EXPECT_EQ(trace.phases[0], (TracePhase{"evaluation", 2.0, 5.0}));
  EXPECT_EQ(trace.phases[1], (TracePhase{"checkpoint", 5.0, 5.0}));
}

TEST(ProgressTrace, APhaseIsRecordedOnceWithItsOwnDuration) {
  ProgressTracer tracer(0.0, std::nullopt);
  tracer.add(counted(1.0, 10));
  tracer.add(phase_of(2.5, std::nullopt));
  tracer.add(phase_of(8.0, 6.0));
  EXPECT_EQ(tracer.trace().phases, (std::vector<TracePhase>{{"evaluation", 2.0, 8.0}}));

  // The end of another phase is no end of this one.
  tracer.add(phase_of(9.0, std::nullopt));
  Report checkpoint;
  checkpoint.received_s = 12.0;
  checkpoint.phase = PhaseReport{"checkpoint", 1.0};
  tracer.add(checkpoint);
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.phases.size(), 3U);
  EXPECT_EQ(trace.phases[1], (TracePhase{"evaluation", 9.0, 12.0}));
  EXPECT_EQ(trace.phases[2], (TracePhase{"checkpoint", 11.0, 12.0}));
}

TEST(ProgressTrace, UsesTheTrialsClockIfItIsValid) {
  ProgressTracer trusted(0.0, std::nullopt);
  ProgressTracer set(0.0, std::nullopt);
  for (int i = 1; i <= 10; ++i) {
    Report report = counted(std::ceil(i / 5.0) * 5.0, i);  // lines that arrive in groups of five
    report.clock_s = 100.0 + i;
    trusted.add(report);
    if (i > 5) report.clock_s = 100.0 - i;  // goes back
    set.add(report);
  }
  EXPECT_EQ(trusted.trace().points[1].at_s - trusted.trace().points[0].at_s, 1.0);
  EXPECT_EQ(set.trace().points[1].at_s - set.trace().points[0].at_s, 0.0);
  double seconds = 0.0;
  EXPECT_EQ(longest_wait(set.trace().points, seconds).samples, 5.0);
  EXPECT_EQ(seconds, 5.0);
}

TEST(ProgressTrace, PhasesLastUntilTheNextCounterOrForTheirReportedTime) {
  ProgressTracer tracer(0.0, std::nullopt);
  tracer.add(counted(1.0, 10));
  Report report = counted(2.0, 20);
  report.phase = PhaseReport{"checkpoint", std::nullopt};
  tracer.add(report);
  tracer.add(counted(5.0, 30));
  tracer.add(phase_of(8.0, 2.5));
  tracer.add(phase_of(9.0, std::nullopt));
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.phases.size(), 3U);
  EXPECT_EQ(trace.phases[0], (TracePhase{"checkpoint", 2.0, 5.0}));
  EXPECT_EQ(trace.phases[1], (TracePhase{"evaluation", 5.5, 8.0}));
  EXPECT_EQ(trace.phases[2], (TracePhase{"evaluation", 9.0, 9.0})) << "has not ended";
  EXPECT_EQ(trace.points.size(), 3U);
}

TEST(ProgressTrace, StepsBecomeSamplesAndNonsenseIsLeftOut) {
  ProgressTracer tracer(0.0, 32.0);
  for (const double step : {1.0, 2.0, 2.0, 1.0, std::nan(""), 3.0}) {
    Report report;
    report.received_s = step;
    report.step = step;
    tracer.add(report);
  }
  const ProgressTrace trace = tracer.trace();
  ASSERT_EQ(trace.points.size(), 3U);
  EXPECT_EQ(trace.points[2], (TracePoint{3.0, 96.0, 3.0}));
  tracer.add(counted(4.0, 500.0));
  EXPECT_EQ(tracer.trace().points.size(), 1U) << "steps cannot be continued in samples";
  Report step;
  step.received_s = 5.0;
  step.step = 1e6;
  tracer.add(step);
  tracer.add(counted(6.0, k_infinity));
  tracer.add(counted(k_infinity, 600.0));
  EXPECT_EQ(tracer.trace().points.size(), 1U);
}

}  // namespace
}  // namespace steptune
