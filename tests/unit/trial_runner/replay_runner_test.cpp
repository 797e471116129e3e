// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_runner.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/outcome_text.hpp"
#include "trial_runner/measure/measurer.hpp"

namespace steptune {
namespace {

TrialSpec spec_of(std::int64_t trial, Configuration configuration = {}) {
  TrialSpec spec;
  spec.key = {trial, 1};
  spec.configuration = std::move(configuration);
  spec.limits.wall_s = 3600.0;
  return spec;
}

ReplayModel constant_model(double seconds_per_sample) {
  return synthetic_replay_model([=](const Configuration&) { return seconds_per_sample; });
}

/// Returns all events until all trials have ended or the clock reads `until_s`.
std::vector<TrialEvent> events_until(Runner& runner, const VirtualClock& clock, double until_s) {
  std::vector<TrialEvent> all;
  while (clock.now_s() < until_s) {
    auto events = runner.wait(until_s);
    EXPECT_TRUE(events);
    all.insert(all.end(), events->begin(), events->end());
  }
  return all;
}

/// Returns an exact text of the events, to compare whole runs.
std::string text_of(const std::vector<TrialEvent>& events) {
  std::string text;
  for (const TrialEvent& event : events) {
    if (const auto* started = std::get_if<TrialStarted>(&event)) {
      text += fmt::format("{} start {:a}\n", started->key.trial, started->time_s);
    } else if (const auto* reported = std::get_if<TrialReported>(&event)) {
      const Report& report = reported->report;
      text += fmt::format("{} {:a} {:a} {:a}\n", reported->key.trial, report.received_s,
                          *report.step, *report.samples);
    } else if (const auto* finished = std::get_if<TrialFinished>(&event)) {
      text += fmt::format("{} end {:a} {} {}\n", finished->key.trial, finished->time_s,
                          to_text(finished->outcome.kind), finished->outcome.detail);
    }
  }
  return text;
}

void begin(ReplayRunner& runner) {
  ASSERT_TRUE(runner.begin_study("replayed", "1"));
}

std::string history(std::uint64_t seed) {
  VirtualClock clock;
  ReplayOptions options;
  options.seed = seed;
  options.parallel = 2;
  options.noise.step = 0.1;
  ReplayRunner runner(clock, constant_model(0.2), options);
  begin(runner);
  EXPECT_TRUE(runner.start(spec_of(1)));
  EXPECT_TRUE(runner.start(spec_of(2)));
  return text_of(events_until(runner, clock, 600.0));
}

std::optional<TrialFinished> end_of(const std::vector<TrialEvent>& events) {
  std::optional<TrialFinished> end;
  for (const TrialEvent& event : events) {
    if (const auto* finished = std::get_if<TrialFinished>(&event)) end = *finished;
  }
  return end;
}

std::size_t reports_in(const std::vector<TrialEvent>& events) {
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(),
      [](const TrialEvent& event) { return std::holds_alternative<TrialReported>(event); }));
}

TEST(ReplayRunner, TheSameSeedGivesTheSameHistory) {
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

TEST(ReplayRunner, ATrialDoesNotDependOnOthers) {
  const auto alone = [](bool with_other) {
    VirtualClock clock;
    ReplayOptions options;
    options.parallel = 2;
    ReplayRunner runner(clock, constant_model(0.2), options);
    begin(runner);
    EXPECT_TRUE(runner.start(spec_of(5)));
    if (with_other) {
      EXPECT_TRUE(runner.start(spec_of(6)));
    }
    std::string text;
    for (const TrialEvent& event : events_until(runner, clock, 300.0)) {
      if (std::visit([](const auto& any) { return any.key.trial; }, event) == 5) {
        text += text_of({event});
      }
    }
    return text;
  };
  EXPECT_EQ(alone(false), alone(true));
}

TEST(ReplayRunner, AnotherAttemptIsAnotherDraw) {
  const auto attempt = [](int number) {
    VirtualClock clock;
    ReplayRunner runner(clock, constant_model(0.2), {});
    begin(runner);
    TrialSpec spec = spec_of(1);
    spec.key.attempt = number;
    EXPECT_TRUE(runner.start(spec));
    return text_of(events_until(runner, clock, 60.0));
  };
  EXPECT_NE(attempt(1), attempt(2));
}

TEST(ReplayRunner, IsMeasuredAsTheModelSays) {
  for (const double truth_s : {1e-4, 0.2, 20.0}) {
    VirtualClock clock;
    ReplayOptions options;
    options.noise = {0.05, 0.3, 0.0, 10.0, 3.0};
    ReplayRunner runner(clock, constant_model(truth_s), options);
    begin(runner);
    ASSERT_TRUE(runner.start(spec_of(1)));
    Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0});
    // A start that fades over 10 steps must have been over for longer than it lasted.
    for (const TrialEvent& event : events_until(runner, clock, std::max(3000.0, 400.0 * truth_s))) {
      if (const auto* reported = std::get_if<TrialReported>(&event)) {
        measurer.add(reported->report);
      }
    }
    const Measurement& m = measurer.current();
    EXPECT_EQ(m.status, MeasurementStatus::steady) << truth_s;
    EXPECT_NEAR(m.seconds_per_sample / truth_s, 1.0, 0.02) << truth_s;
  }
}

TEST(ReplayRunner, HoursTakeFewReports) {
  VirtualClock clock;
  ReplayRunner runner(clock, constant_model(1e-3), {});
  begin(runner);
  ASSERT_TRUE(runner.start(spec_of(1)));
  const auto events = events_until(runner, clock, 3599.0);
  EXPECT_GT(reports_in(events), 100U);
  EXPECT_LT(reports_in(events), 500U);
}

TEST(ReplayRunner, WallLimitEndsATrial) {
  VirtualClock clock;
  ReplayRunner runner(clock, constant_model(1.0), {});
  begin(runner);
  TrialSpec spec = spec_of(1);
  spec.limits.wall_s = 100.0;
  ASSERT_TRUE(runner.start(spec));
  const auto end = end_of(events_until(runner, clock, 1000.0));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome.kind, OutcomeKind::timed_out);
  EXPECT_EQ(end->time_s, 100.0);
  EXPECT_EQ(end->outcome.billed_s, 100.0);
}

TEST(ReplayRunner, IdleLimitEndsATrialOfLongSteps) {
  VirtualClock clock;
  ReplayRunner runner(clock, constant_model(1000.0), {});
  begin(runner);
  ASSERT_TRUE(runner.start(spec_of(1)));
  const auto end = end_of(events_until(runner, clock, 3000.0));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome.kind, OutcomeKind::hung);
  EXPECT_EQ(end->time_s, 600.0);
}

TEST(ReplayRunner, InjectedEndsHappen) {
  struct Case {
    ReplayEnd end;
    OutcomeKind kind;
    double least_s;
  };
  const Case cases[] = {
      {{OutcomeKind::failed, 20.0, 1, "injected"}, OutcomeKind::failed, 20.0},
      {{OutcomeKind::out_of_memory, 0.0, 137, "injected"}, OutcomeKind::out_of_memory, 0.0},
      {{OutcomeKind::hung, 20.0, 0, {}}, OutcomeKind::hung, 600.0},
  };
  for (const Case& tested : cases) {
    VirtualClock clock;
    ReplayOptions options;
    options.end_of = [&](const TrialSpec&) { return tested.end; };
    ReplayRunner runner(clock, constant_model(1.0), options);
    begin(runner);
    ASSERT_TRUE(runner.start(spec_of(1)));
    const auto events = events_until(runner, clock, 3000.0);
    const auto end = end_of(events);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->outcome.kind, tested.kind);
    EXPECT_GE(end->time_s, tested.least_s);
    EXPECT_LT(end->time_s, 700.0);
    if (tested.kind == OutcomeKind::out_of_memory) {
      EXPECT_EQ(reports_in(events), 0U);
    }
  }
}

TEST(ReplayRunner, CompletesAfterTheRequestedSteps) {
  VirtualClock clock;
  ReplayOptions options;
  options.steps = 500;
  ReplayRunner runner(clock, constant_model(0.1), options);
  begin(runner);
  ASSERT_TRUE(runner.start(spec_of(1)));
  const auto events = events_until(runner, clock, 3000.0);
  EXPECT_EQ(end_of(events)->outcome.kind, OutcomeKind::completed);
  double last_step = 0.0;
  for (const TrialEvent& event : events) {
    if (const auto* reported = std::get_if<TrialReported>(&event)) {
      last_step = *reported->report.step;
    }
  }
  EXPECT_EQ(last_step, 500.0);
}

TEST(ReplayRunner, AModelWithoutAnAnswerFailsTheTrial) {
  for (const auto& answer : {std::optional<double>{}, std::optional<double>{-1.0},
                             std::optional<double>{std::nan("")}}) {
    VirtualClock clock;
    ReplayRunner runner(clock, synthetic_replay_model([=](const auto&) { return answer; }), {});
    begin(runner);
    ASSERT_TRUE(runner.start(spec_of(1)));
    const auto events = events_until(runner, clock, 100.0);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(end_of(events)->outcome.kind, OutcomeKind::failed);
    EXPECT_FALSE(end_of(events)->outcome.detail.empty());
  }
}

TEST(ReplayRunner, RefusesMoreTrialsThanItHasPlacesAndAKeyTwice) {
  VirtualClock clock;
  ReplayOptions options;
  options.parallel = 2;
  ReplayRunner runner(clock, constant_model(1.0), options);
  begin(runner);
  ASSERT_TRUE(runner.start(spec_of(1)));
  EXPECT_FALSE(runner.start(spec_of(1)));
  ASSERT_TRUE(runner.start(spec_of(2)));
  EXPECT_FALSE(runner.start(spec_of(3)));
}

TEST(ReplayRunner, ReportsPartsAndMetrics) {
  VirtualClock clock;
  const ReplayModel model = [](const TrialSpec&) {
    return ReplayBehaviour{0.5, 4.0, {{"accuracy", 0.9}}, {{"data", 0.2}}};
  };
  ReplayRunner runner(clock, model, {});
  begin(runner);
  ASSERT_TRUE(runner.start(spec_of(1)));
  const auto events = events_until(runner, clock, 60.0);
  const auto* reported = std::get_if<TrialReported>(&events.back());
  ASSERT_NE(reported, nullptr);
  EXPECT_EQ(*reported->report.samples, 4.0 * *reported->report.step);
  EXPECT_EQ(reported->report.metrics.at("accuracy"), 0.9);
  EXPECT_DOUBLE_EQ(reported->report.parts.at("data"), 0.2 * *reported->report.samples);
}

TEST(StepTimes, ManyStepsAtOnceVaryAsTheirSumDoes) {
  const StepNoise noise{0.1, 0.6, 0.0, 10.0, 2.0};
  double one = 0.0, one_squares = 0.0, many = 0.0, many_squares = 0.0;
  constexpr int k_runs = 2000;
  for (int run = 0; run < k_runs; ++run) {
    Rng rng(1, "steps", static_cast<std::uint64_t>(run));
    StepTimes times(noise, rng);
    double sum = 0.0;
    for (int i = 0; i < 200; ++i)
      sum += times.take(1.0, rng);
    one += sum / k_runs;
    one_squares += sum * sum / k_runs;
    StepTimes block(noise, rng);
    const double taken = block.take(200.0, rng);
    many += taken / k_runs;
    many_squares += taken * taken / k_runs;
  }
  // 200 steps, and the warm-up's sum of 2 exp(-i / 10).
  const double expected = 200.0 + 2.0 / (1.0 - std::exp(-0.1));
  EXPECT_NEAR(one, expected, 0.5);
  EXPECT_NEAR(many, expected, 0.5);
  EXPECT_NEAR(std::sqrt(one_squares - one * one) / std::sqrt(many_squares - many * many), 1.0, 0.1);
}

}  // namespace
}  // namespace steptune
