// SPDX-License-Identifier: Apache-2.0
//
// Tests how replayed trials end: stopped, killed, at their limits, or by themselves; and the
// guarantees for studies that are simulated with them.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

struct ReplayedStudy {
  explicit ReplayedStudy(ReplayOptions options = {}, double seconds_per_sample = 0.5)
      : runner(clock,
               synthetic_replay_model([=](const Configuration&) { return seconds_per_sample; }),
               std::move(options)) {
    EXPECT_TRUE(runner.begin_study("replayed", "1"));
  }
  void start(std::int64_t trial, TrialLimits limits = {}) {
    TrialSpec spec;
    spec.key = {trial, 1};
    spec.limits = limits;
    ASSERT_TRUE(runner.start(spec));
  }
  void pass_to(double time_s) {
    while (clock.now_s() < time_s) {
      const auto events = runner.wait(time_s);
      ASSERT_TRUE(events);
      for (const TrialEvent& event : *events) {
        if (const auto* start = std::get_if<TrialStarted>(&event))
          starts[start->key.trial] = *start;
        if (const auto* report = std::get_if<TrialReported>(&event)) {
          reports[report->key.trial].push_back(report->report);
        }
        if (const auto* end = std::get_if<TrialFinished>(&event)) {
          EXPECT_FALSE(ends.contains(end->key.trial)) << "ended twice";
          ends[end->key.trial] = *end;
        }
      }
    }
  }

  VirtualClock clock;
  ReplayRunner runner;
  std::map<std::int64_t, TrialStarted> starts;
  std::map<std::int64_t, std::vector<Report>> reports;
  std::map<std::int64_t, TrialFinished> ends;
};

TrialLimits limits_of(double wall_s, double idle_s = 1e9, double grace_s = 10.0) {
  TrialLimits limits;
  limits.wall_s = wall_s;
  limits.idle_s = idle_s;
  limits.grace_s = grace_s;
  return limits;
}

TEST(ReplayEnds, AStoppedTrialEndsAMomentLaterAndTheOthersContinue) {
  ReplayOptions options;
  options.parallel = 2;
  ReplayedStudy study(options);
  study.start(1, limits_of(3600.0));
  study.start(2, limits_of(3600.0));
  study.pass_to(100.0);
  study.runner.stop({1, 1});
  study.pass_to(200.0);
  ASSERT_TRUE(study.ends.contains(1));
  EXPECT_FALSE(study.ends.contains(2));
  const TrialFinished& end = study.ends.at(1);
  EXPECT_EQ(end.outcome.kind, OutcomeKind::stopped);
  EXPECT_DOUBLE_EQ(end.time_s, 100.1);
  EXPECT_DOUBLE_EQ(end.outcome.duration_s, 100.1);
  EXPECT_EQ(end.outcome.exit_code, 143);
}

TEST(ReplayEnds, AShortGraceShortensTheStop) {
  ReplayedStudy study;
  study.start(1, limits_of(3600.0, 1e9, 0.02));
  study.pass_to(50.0);
  study.runner.stop({1, 1});
  study.runner.stop({1, 2});  // another attempt, which does not exist
  study.pass_to(60.0);
  EXPECT_DOUBLE_EQ(study.ends.at(1).time_s, 50.02);
}

TEST(ReplayEnds, ATrialThatEndsBeforeItsStopEndsAsItWould) {
  ReplayOptions options;
  options.end_of = [](const TrialSpec&) {
    return ReplayEnd{OutcomeKind::out_of_memory, 20.0, 9, "no memory"};
  };
  options.startup_s = 0.0;
  ReplayedStudy study(options);
  study.start(1, limits_of(3600.0));
  study.pass_to(19.95);
  study.runner.stop({1, 1});
  study.pass_to(30.0);
  EXPECT_EQ(study.ends.at(1).outcome.kind, OutcomeKind::out_of_memory);
  EXPECT_EQ(study.ends.at(1).outcome.exit_code, 9);
  EXPECT_EQ(study.ends.at(1).outcome.detail, "no memory");
  EXPECT_DOUBLE_EQ(study.ends.at(1).time_s, 20.0);
}

TEST(ReplayEnds, KilledTrialsEndAtOnceAndTheirPlacesAreFree) {
  ReplayOptions options;
  options.parallel = 2;
  ReplayedStudy study(options);
  study.start(1, limits_of(3600.0));
  study.start(2, limits_of(3600.0));
  study.pass_to(10.0);
  study.runner.kill_all();
  study.pass_to(10.001);
  EXPECT_DOUBLE_EQ(study.ends.at(1).time_s, 10.0);
  EXPECT_DOUBLE_EQ(study.ends.at(2).time_s, 10.0);
  study.start(3, limits_of(3600.0));
  study.start(4, limits_of(3600.0));
  study.pass_to(11.0);
  EXPECT_DOUBLE_EQ(study.starts.at(3).time_s, 10.001);
}

TEST(ReplayEnds, SilenceEndsAtTheIdleLimit) {
  ReplayOptions options;
  options.startup_s = 0.0;
  options.end_of = [](const TrialSpec&) { return ReplayEnd{OutcomeKind::hung, 100.0, 0, ""}; };
  ReplayedStudy study(options);
  study.start(1, limits_of(3600.0, 60.0));
  study.pass_to(600.0);
  const TrialFinished& end = study.ends.at(1);
  EXPECT_EQ(end.outcome.kind, OutcomeKind::hung);
  EXPECT_THAT(end.outcome.detail, HasSubstr("no output for 1 min"));
  const double last_s = study.reports.at(1).back().received_s;
  EXPECT_LE(last_s, 100.0);
  EXPECT_DOUBLE_EQ(end.time_s, last_s + 60.0);
}

TEST(ReplayEnds, AStartThatTakesLongerThanTheIdleLimitIsSilence) {
  ReplayOptions options;
  options.startup_s = 300.0;
  ReplayedStudy study(options);
  study.start(1, limits_of(3600.0, 60.0));
  study.pass_to(600.0);
  EXPECT_EQ(study.ends.at(1).outcome.kind, OutcomeKind::hung);
  EXPECT_DOUBLE_EQ(study.ends.at(1).time_s, 60.0);
  EXPECT_FALSE(study.reports.contains(1));
}

TEST(ReplayEnds, WithoutTrialsTimeStopsAtTheDeadline) {
  ReplayedStudy study;
  ASSERT_TRUE(study.runner.wait(5.0));
  EXPECT_DOUBLE_EQ(study.clock.now_s(), 5.0);
  ASSERT_TRUE(study.runner.wait(3.0));
  EXPECT_DOUBLE_EQ(study.clock.now_s(), 5.0) << "the clock never goes back";
  ASSERT_TRUE(study.runner.wait(std::numeric_limits<double>::infinity()));
  EXPECT_DOUBLE_EQ(study.clock.now_s(), 5.0) << "nothing will happen";
}

TEST(ReplayEnds, ARunnerHasAtLeastOnePlaceAndAdoptsNothing) {
  ReplayOptions options;
  options.parallel = 0;
  ReplayedStudy study(options);
  EXPECT_EQ(study.runner.capacity(), 1);
  EXPECT_FALSE(study.runner.begin_study("another", "2")) << "one study at a time";
  const auto adopted = study.runner.adopt({});
  ASSERT_TRUE(adopted);
  EXPECT_TRUE(adopted->empty());
  VirtualClock clock;
  ReplayRunner idle(clock, synthetic_replay_model([](const Configuration&) { return 1.0; }), {});
  EXPECT_FALSE(idle.adopt({})) << "before its study";
}

TEST(ReplayModels, ExplainAMissingTime) {
  TrialSpec spec;
  spec.configuration.set("x", std::int64_t{3});
  spec.report_format.samples_per_step = 32.0;
  const auto of = [&](std::optional<double> value) {
    return synthetic_replay_model([=](const Configuration&) { return value; })(spec);
  };
  EXPECT_THAT(of(std::nullopt).error(), HasSubstr("x=3"));
  for (const double none : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(of(none).error(), HasSubstr("seconds per sample for x=3")) << none;
  ASSERT_TRUE(of(0.5));
  EXPECT_EQ(of(0.5)->seconds_per_sample, 0.5);
  EXPECT_EQ(of(0.5)->samples_per_step, 32.0);
}

/// For random trials and stops: one start, then growing reports, then one end; times never decrease
/// and stay within the wall limit.
TEST(ReplayEnds, EachTrialHasOneLifeWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "replay_ends");
    ReplayOptions options;
    options.parallel = 3;
    options.seed = seed;
    options.noise.step = 0.3;
    if (rng.below(3) == 0) options.steps = static_cast<double>(1 + rng.below(100));
    options.end_of = [&rng](const TrialSpec&) -> std::optional<ReplayEnd> {
      const auto kind = rng.below(6);
      if (kind == 0) return ReplayEnd{OutcomeKind::failed, 100.0 * rng.uniform(), 1, "x"};
      if (kind == 1) return ReplayEnd{OutcomeKind::hung, 100.0 * rng.uniform(), 0, ""};
      return std::nullopt;
    };
    ReplayedStudy study(options);
    const TrialLimits limits = limits_of(150.0, 30.0, 5.0);
    for (std::int64_t trial = 1; trial <= 3; ++trial)
      study.start(trial, limits);
    study.pass_to(200.0 * rng.uniform());
    if (rng.below(2) == 0) study.runner.stop({1, 1});
    study.pass_to(400.0);
    for (std::int64_t trial = 1; trial <= 3; ++trial) {
      ASSERT_TRUE(study.starts.contains(trial)) << "seed " << seed;
      ASSERT_TRUE(study.ends.contains(trial)) << "seed " << seed;
      const TrialFinished& end = study.ends.at(trial);
      EXPECT_LE(end.time_s, 150.0 + 1e-9) << "seed " << seed;
      EXPECT_DOUBLE_EQ(end.outcome.billed_s, end.outcome.duration_s);
      double before_s = study.starts.at(trial).time_s;
      double steps = 0.0;
      for (const Report& report : study.reports[trial]) {
        EXPECT_GE(report.received_s, before_s) << "seed " << seed;
        EXPECT_GT(*report.step, steps) << "seed " << seed;
        EXPECT_DOUBLE_EQ(*report.clock_s, report.received_s);
        before_s = report.received_s;
        steps = *report.step;
      }
      EXPECT_GE(end.time_s, before_s) << "seed " << seed;
      EXPECT_LE(steps, options.steps.value_or(1e9));
      EXPECT_EQ(end.outcome.kind == OutcomeKind::completed,
                options.steps.has_value() && steps == *options.steps)
          << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace steptune
