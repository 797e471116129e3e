// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follower.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tuner/follow/follow_text.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Returns a promise of 10 ms per sample for a million samples.
Promise promise() {
  Promise promise;
  promise.trial = 4;
  promise.seconds_per_sample = {0.01, 0.0002};
  promise.startup_s = 5.0;
  promise.once_s = 5.0;
  promise.samples = 1e6;
  return promise;
}

Follower follower_of(const std::string& preset = "key=value",
                     std::optional<double> started_s = std::nullopt) {
  ReportFormat format;
  if (!preset.empty()) format.preset = preset;
  return Follower::create(format, promise(), started_s).value();
}

/// Prints `lines` lines of 100 samples, at `seconds` per sample; returns the time of the last line.
double live(Follower& follower, int lines, double seconds, double from_s = 0.0, int from = 0) {
  for (int i = 1; i <= lines; ++i) {
    from_s += 100.0 * seconds;
    follower.read_line(fmt::format("samples={} loss=0.5", 100 * (from + i)), from_s);
  }
  return from_s;
}

TEST(Follower, ARunAtThePromisedRateKeepsIt) {
  Follower follower = follower_of();
  live(follower, 300, 0.01);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::kept) << state.reason;
  EXPECT_FALSE(state.deviation);
  ASSERT_TRUE(state.run_s);
  EXPECT_NEAR(state.run_s->value, 10'005.0, 1.0);
  EXPECT_EQ(state.samples, 30'000.0);
  EXPECT_NEAR(state.seen_s, 299.0, 1e-6);
  EXPECT_EQ(follower.clock_text(), "") << "the lines were read when they were printed";
}

TEST(Follower, ASlowStartIsNotTheRate) {
  Follower follower = follower_of("key=value", 0.0);
  const double time_s = live(follower, 20, 0.1);
  live(follower, 300, 0.01, time_s, 20);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::kept) << state.reason;
  ASSERT_TRUE(state.seconds_per_sample);
  EXPECT_NEAR(state.seconds_per_sample->value, 0.01, 1e-5);
  EXPECT_NEAR(state.run_s->value, 200.0 + 998'000 * 0.01, 5.0) << "the start-up is counted once";
}

TEST(Follower, NowIsTheLastMinute) {
  Follower follower = follower_of();
  const double time_s = live(follower, 300, 0.01);
  live(follower, 15, 0.02, time_s, 300);
  const FollowState state = follower.state();
  ASSERT_TRUE(state.seconds_per_sample_now);
  EXPECT_NEAR(state.seconds_per_sample_now->value, 60.0 / 4500.0, 1e-4);
  EXPECT_NEAR(state.seconds_per_sample->value, 330.0 / 31'500.0, 1e-4) << "all but the start";
}

TEST(Follower, ReportsBeforeTheFirstStepAreNoProgress) {
  Follower follower = follower_of();
  follower.read_line("loss=3.0", 0.0);
  live(follower, 300, 0.01, 1000.0);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_NEAR(follower.state().seen_s, 299.0, 1e-6);
}

TEST(Follower, StepsAreSamplesAsTheStudyCountsThem) {
  ReportFormat format;
  format.preset = "key=value";
  Promise promised = promise();
  promised.samples_per_step = 10.0;
  Follower follower = Follower::create(format, promised, std::nullopt).value();
  for (int i = 1; i <= 300; ++i)
    follower.read_line(fmt::format("step={}", 10 * i), i);
  EXPECT_EQ(follower.state().samples, 30'000.0);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
}

TEST(Follower, AStepIsOneSampleByDefault) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i)
    follower.read_line(fmt::format("step={}", 100 * i), i);
  EXPECT_EQ(follower.state().samples, 30'000.0);
}

TEST(Follower, PhasesOfTheRunAreReported) {
  Follower follower = follower_of("");
  double time_s = 0.0;
  for (int i = 1; i <= 300; ++i) {
    time_s += 1.0;
    follower.read_line(fmt::format(R"([steptune] {{"v":1,"samples":{}}})", 100 * i), time_s);
    if (i % 30 != 0) continue;
    time_s += 6.0;
    follower.read_line(R"([steptune] {"v":1,"phase":"evaluation","seconds":6})", time_s);
  }
  const FollowState state = follower.state();
  ASSERT_TRUE(state.phases.contains("evaluation"));
  EXPECT_NEAR(state.phases.at("evaluation").period_samples, 3000.0, 1.0);
  EXPECT_THAT(state.causes, Contains(HasSubstr("evaluation is not in the promise")));
}

TEST(Follower, PhasesOfAResumedRunAreNotMissedAtOnce) {
  Promise promised = promise();
  promised.planned_every = {{"evaluation", 10'000.0}};
  ReportFormat format;
  format.preset = "key=value";
  Follower follower = Follower::create(format, promised, std::nullopt).value();
  const double time_s = live(follower, 100, 0.01, 0.0, 5000);
  EXPECT_THAT(follower.state().causes, IsEmpty())
      << "half a million samples belong to an earlier run";
  live(follower, 150, 0.01, time_s, 5100);
  EXPECT_THAT(follower.state().causes, Contains(HasSubstr("no evaluation was seen")));
}

/// Returns a run with steps of 10 ms, and a silent evaluation of 2 s every hundred steps.
FollowState evaluated_run(int steps) {
  Promise promised = promise();
  PhaseEstimate evaluation;
  evaluation.seconds = 2.0;
  evaluation.period_samples = 100.0;
  promised.phases = {{"evaluation", evaluation}};
  promised.seconds_per_sample = {0.03, 0.0002};
  promised.samples = 30'000.0;
  Follower follower = Follower::create({"key=value", {}, {}}, promised, 0.0).value();
  for (int step = 1; step <= steps; ++step)
    follower.read_line(fmt::format("samples={}", step), 0.01 * step + 2.0 * ((step - 1) / 100));
  return follower.state();
}

TEST(Follower, APhaseBeforeItsFirstTimeIsTakenFromThePromise) {
  const FollowState before = evaluated_run(95);
  EXPECT_EQ(before.keeping, Keeping::kept) << before.reason;
  EXPECT_THAT(before.awaited, ElementsAre("evaluation"));
  EXPECT_NEAR(before.promised->value, 0.01, 1e-9);
  EXPECT_NEAR(before.run_s->value, 900.0, 3.0);
  EXPECT_FALSE(before.deviation);
  const FollowState between = evaluated_run(1050);
  EXPECT_EQ(between.keeping, Keeping::kept) << between.reason;
  EXPECT_THAT(between.awaited, IsEmpty());
  EXPECT_NEAR(between.promised->value, 0.03, 1e-9);
}

TEST(Follower, WithoutANumberOfSamplesThePlannedRunHasNoTime) {
  Promise promised = promise();
  promised.samples.reset();
  Follower follower = Follower::create({"key=value", {}, {}}, promised, std::nullopt).value();
  live(follower, 300, 0.01);
  EXPECT_EQ(follower.state().keeping, Keeping::kept);
  EXPECT_FALSE(follower.state().run_s);
}

TEST(Follower, ReportsThatCannotBeReadAreRefused) {
  const auto follower =
      Follower::create({std::nullopt, {{"loss", "loss=("}}, {}}, promise(), std::nullopt);
  ASSERT_FALSE(follower);
  EXPECT_THAT(follower.error().text(), HasSubstr("loss=("));
}

TEST(Follower, ASlowerRunBreaksItWithAStartTime) {
  Follower follower = follower_of();
  const double time_s = live(follower, 200, 0.01, 1000.0);
  live(follower, 200, 0.015, time_s, 200);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::broken);
  ASSERT_TRUE(state.seconds_per_sample_now);
  EXPECT_NEAR(state.seconds_per_sample_now->value, 0.015, 1e-6);
  ASSERT_TRUE(state.deviation);
  EXPECT_NEAR(state.deviation->since.samples, 20'000.0, 1000.0);
  EXPECT_NEAR(state.deviation->since.time_s, 199.0, 10.0) << "since the first report";
  EXPECT_NEAR(state.deviation->ratio, 1.5, 0.02);
  EXPECT_NEAR(state.run_s->value, 5.0 + 200 + 980'000 * 0.015, 150.0);
  ASSERT_TRUE(state.judged_seconds_per_sample);
  EXPECT_NEAR(state.judged_seconds_per_sample->value, 0.015, 2e-4) << "since then";
  EXPECT_GT(state.judged_seconds_per_sample->low(), promise().seconds_per_sample.high());
  const std::string text = follow_text(follower.promise(), state);
  EXPECT_THAT(text, HasSubstr("promise  broken"));
  EXPECT_THAT(text, HasSubstr("% more time per sample than promised"));
  EXPECT_THAT(state.causes, Contains(HasSubstr("the time per sample changed at once")));
  const Json json = follow_json(follower.promise(), state);
  EXPECT_EQ(json["promise"], "broken");
  EXPECT_EQ(json["promised"]["run_s"]["value"], 10'005.0);
}

TEST(Follower, AChangeOfLevelShortlyBeforeTheEndIsNoWarmUp) {
  Follower follower = follower_of();
  const double time_s = live(follower, 400, 0.01);
  live(follower, 16, 0.02, time_s, 400);
  const FollowState state = follower.state();
  ASSERT_TRUE(state.seconds_per_sample) << state.reason;
  EXPECT_EQ(state.keeping, Keeping::broken);
  ASSERT_TRUE(state.deviation);
  EXPECT_NEAR(state.deviation->since.samples, 40'000.0, 300.0);
}

TEST(Follower, ASlowerBufferedRunBreaksItToo) {
  Follower follower = follower_of();
  for (int flush = 1; flush <= 20; ++flush) {
    for (int i = 1; i <= 50; ++i) {
      const int line = 50 * (flush - 1) + i;
      follower.read_line(fmt::format("samples={}", 100 * line), 100.0 * flush + 1e-5 * i);
    }
    const FollowState state = follower.state();
    if (flush == 1) {
      EXPECT_EQ(state.keeping, Keeping::unknown);
      EXPECT_THAT(state.reason, HasSubstr("all at once, as from a buffer"));
    }
    EXPECT_NE(state.keeping, Keeping::faster) << "after " << flush << " times";
    if (flush < 10) continue;
    EXPECT_EQ(state.keeping, Keeping::broken) << "after " << flush << " times";
    EXPECT_NEAR(state.run_s->value, 1e6 * 0.02, 0.1 * 1e6 * 0.02);
  }
}

TEST(Follower, ReadsTheFirstOfSeveralRanks) {
  Follower follower = follower_of("");
  for (int i = 1; i <= 300; ++i) {
    for (const int rank : {1 - i % 2, i % 2}) {
      follower.read_line(
          fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{},"global_rank":{}}})", 100 * i,
                      i + 50.0 * rank, rank),
          i);
    }
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_NEAR(follower.state().seconds_per_sample->value, 0.01, 1e-6);
}

TEST(Follower, AnEarlyBarDoesNotStopTheClock) {
  Follower follower = follower_of("tqdm");
  follower.read_line("Reading: 1%|#| 50/5000 [00:01<00:20, 10.0it/s]", 1e5);
  for (int i = 1; i <= 300; ++i) {
    follower.read_line(fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, i),
                       1e5 + i);
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_EQ(follower.state().samples, 30'000.0);
}

/// Returns a run that starts at 0 and takes 1.5 times as long after 200 s. The machine is watched
/// every second.
FollowState slower_run(Follower& follower, double (*other_load)(double at_s)) {
  const double time_s = live(follower, 200, 0.01);
  const double end_s = live(follower, 200, 0.015, time_s, 200);
  for (double at_s = 0.0; at_s < end_s; at_s += 1.0) {
    follower.saw_machine({.from_s = at_s, .to_s = at_s + 1.0, .other_load = other_load(at_s)});
  }
  return follower.state();
}

TEST(Follower, NamesTheMachinesStateAtAChange) {
  Follower follower = follower_of("key=value", 0.0);
  const FollowState state =
      slower_run(follower, [](double at_s) { return at_s < 200.0 ? 0.02 : 0.35; });
  ASSERT_TRUE(state.deviation);
  EXPECT_THAT(state.causes, Contains(HasSubstr("the CPU share of other programs rose from ")));
  EXPECT_THAT(state.causes, Contains(HasSubstr("when the rate changed")));
  Follower other = follower_of("key=value", 0.0);
  EXPECT_THAT(slower_run(other, [](double) { return 0.02; }).causes,
              Contains(HasSubstr("throttling, a drained queue")))
      << "the run itself has not changed";
}

TEST(Follower, NamesDifferencesOfTheMachineFromTheTrial) {
  Promise made = promise();
  for (int second = 0; second < 30; ++second) {
    made.machine.push_back({.from_s = 5.0 + second, .to_s = 6.0 + second, .other_load = 0.01});
  }
  ReportFormat format;
  format.preset = "key=value";
  Follower follower = Follower::create(format, made, 0.0).value();
  const double end_s = live(follower, 300, 0.015);
  for (double at_s = 0.0; at_s < end_s; at_s += 1.0) {
    follower.saw_machine({.from_s = at_s, .to_s = at_s + 1.0, .other_load = 0.3});
  }
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::broken);
  EXPECT_THAT(state.causes,
              Contains("the CPU share of other programs rose from 1.0 % to 30 % since the trial"));
}

TEST(Follower, MachineFiguresOfALongRunAreThinned) {
  Follower follower = follower_of("key=value", 0.0);
  const double time_s = live(follower, 3000, 0.01);
  const double end_s = live(follower, 3000, 0.015, time_s, 3000);
  for (double at_s = 0.0; at_s < end_s; at_s += 1.0) {
    const double load = at_s < time_s ? 0.02 : 0.35;
    follower.saw_machine({.from_s = at_s, .to_s = at_s + 1.0, .other_load = load});
  }
  EXPECT_THAT(follower.state().causes, Contains(HasSubstr("when the rate changed")))
      << "7 500 seconds, some of them together";
}

TEST(Follower, AFasterRunKeepsIt) {
  Follower follower = follower_of();
  live(follower, 300, 0.008);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::faster);
  ASSERT_TRUE(state.deviation);
  EXPECT_NEAR(state.deviation->ratio, 0.8, 1e-6);
  EXPECT_THAT(state.causes, IsEmpty()) << "a faster run needs no cause";
}

TEST(Follower, AStartedProgramsStartIsInItsTime) {
  Follower follower = follower_of("key=value", 0.0);
  live(follower, 300, 0.01, 60.0);
  EXPECT_NEAR(follower.state().run_s->value, 60.0 + 10'000.0, 1.0);
}

TEST(FinishedLog, UsesTheClockOfSteptuneLines) {
  Follower follower = follower_of("");
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(
        fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, 1.2 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::broken);
  EXPECT_NEAR(follower.state().seconds_per_sample->value, 0.012, 1e-6);
  EXPECT_THAT(follower.clock_text(), HasSubstr("clock of its [steptune] lines"));
}

/// Reads `lines` lines of 100 samples each, with the clock of a process that starts with the log.
void run_of(Follower& follower, int lines, double seconds) {
  for (int i = 1; i <= lines; ++i) {
    follower.read_old_line(fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i,
                                       100.0 * seconds * i));
  }
}

TEST(FinishedLog, ShowsTheLastOfTwoRuns) {
  Follower follower = follower_of("");
  run_of(follower, 300, 0.01);
  run_of(follower, 200, 0.02);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::broken) << state.reason;
  ASSERT_TRUE(state.seconds_per_sample);
  EXPECT_NEAR(state.seconds_per_sample->value, 0.02, 1e-5);
  EXPECT_EQ(state.samples, 20'000.0);
  EXPECT_THAT(state.causes, Contains(HasSubstr("the program restarted")));
}

TEST(Follower, ALogReadThroughAPipeUsesTheDatesOfItsLines) {
  const auto dated = [](int second) {
    return fmt::format("2025-12-31 {:02}:{:02}:{:02} samples={}", second / 3600, second / 60 % 60,
                       second % 60, 100 * second);
  };
  Follower follower = follower_of();
  for (int second = 1; second <= 7200; ++second)
    follower.read_line(dated(second), 50.0 + 1e-6 * second);
  for (int second = 7201; second <= 7700; ++second)
    follower.read_line(dated(second), 50.0 + second - 7200);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::kept) << state.reason;
  EXPECT_NEAR(state.seen_s, 7699.0, 1e-6) << "the log contains two hours from before it was read";
  EXPECT_NEAR(state.run_s.value().value, 10'005.0, 5.0);
  EXPECT_THAT(follower.clock_text(), HasSubstr("dates of its lines"));
}

TEST(Follower, BarsOfTwoProgramsGiveNoClock) {
  // Each line is followed by the other program's bar, as if a new bar had started.
  Follower follower = follower_of("tqdm");
  const auto bar = [](int second) {
    return fmt::format("{:3}%|###   | {}/10000 [{:02}:{:02}<10:00, 100it/s]", second, 100 * second,
                       second / 60, second % 60);
  };
  for (int second = 2; second <= 90; ++second) {
    follower.read_line(bar(second), second);
    follower.read_line(bar(second - 1), second + 0.1);
  }
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::kept) << state.reason;
  EXPECT_NEAR(state.seen_s, 88.0, 2.0);
}

TEST(FinishedLog, ShowsTheLastRunOfARestartedProgram) {
  struct Restart {
    const char* what;
    int from_samples;
    double from_s;
  };
  for (const Restart& restart : {Restart{"from its beginning, on the same machine", 0, 5000.0},
                                 Restart{"from a checkpoint, on the same machine", 15'000, 5000.0},
                                 Restart{"from a checkpoint, on another machine", 15'000, 10.0},
                                 Restart{"from its last step, on another machine", 20'000, 10.0}}) {
    Follower follower = follower_of("");
    const auto read = [&](int samples, double clock_s) {
      follower.read_old_line(
          fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", samples, clock_s));
    };
    for (int i = 1; i <= 200; ++i)
      read(100 * i, 1000.0 + i);
    for (int i = 1; i <= 100; ++i)
      read(restart.from_samples + 100 * i, restart.from_s + 2.0 * i);
    const FollowState state = follower.state();
    ASSERT_TRUE(state.seconds_per_sample) << restart.what << state.reason;
    EXPECT_NEAR(state.seconds_per_sample->value, 0.02, 1e-4) << restart.what;
    EXPECT_EQ(state.keeping, Keeping::broken) << restart.what;
    EXPECT_EQ(state.samples, restart.from_samples + 10'000.0) << restart.what;
    EXPECT_THAT(state.causes, Contains(HasSubstr("the program restarted"))) << restart.what;
  }
}

TEST(FinishedLog, ShowsTheFirstOfTwoMixedPrograms) {
  Follower follower = follower_of("");
  for (int i = 1; i <= 300; ++i) {
    for (const int behind : {0, 50}) {
      if (i <= behind) continue;
      follower.read_old_line(fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})",
                                         100 * (i - behind), static_cast<double>(i - behind)));
    }
  }
  EXPECT_EQ(follower.state().samples, 30'000.0);
  EXPECT_THAT(follower.state().causes, Not(Contains(HasSubstr("the program restarted"))));
}

TEST(FinishedLog, UsesTheDatesOfLines) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(fmt::format("[2025-12-31 23:{:02}:{:02},500] step={} samples={}",
                                       50 + i / 60, i % 60, i, 100 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_THAT(follower.clock_text(), HasSubstr("dates of its lines"));
}

TEST(FinishedLog, UsesTheElapsedTimeOfProgressBars) {
  ReportFormat format;
  format.preset = "tqdm";
  Promise promised = promise();
  promised.samples_per_step = 10.0;
  Follower follower = Follower::create(format, promised, std::nullopt).value();
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i <= 2000; i += 20) {
      follower.read_old_line(fmt::format("Epoch {}: 1%|##| {}/2000 [{:02}:{:02}<00:20, 10.0it/s]",
                                         epoch, i, i / 600, i / 10 % 60));
    }
  }
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::kept) << state.reason;
  EXPECT_EQ(state.samples, 40'000.0);
  EXPECT_THAT(follower.clock_text(), HasSubstr("leave out the time between two bars"));
}

TEST(FinishedLog, WithoutAnyClockGivesNoVerdict) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i)
    follower.read_old_line(fmt::format("step={} samples={}", i, 100 * i));
  EXPECT_EQ(follower.state().keeping, Keeping::unknown);
  EXPECT_THAT(follower.state().reason, HasSubstr("does not say when its lines were printed"));
  EXPECT_THAT(follower.state().reason, HasSubstr("-- COMMAND"));
}

TEST(FinishedLog, ItsClockIsChosenByTheFirstLineWithACounter) {
  Follower follower = follower_of("");
  follower.read_old_line(R"(2025-12-31 23:00:00 [steptune] {"v":1,"metrics":{"loss":3}})");
  follower.read_old_line("2025-12-31 23:00:01 downloading weights");
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(
        fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, 1.0 * i));
    // A line without a time does not count for the rate.
    follower.read_old_line(fmt::format(R"([steptune] {{"v":1,"samples":{}}})", 100 * i + 50));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_EQ(follower.state().samples, 30'000.0);
  EXPECT_THAT(follower.clock_text(), HasSubstr("clock of its [steptune] lines"));
}

TEST(FinishedLog, DropsReportsBeforeTheFirstWithATime) {
  Follower follower = follower_of("");
  follower.read_old_line(R"([steptune] {"v":1,"samples":50})");
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(
        fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, 1.0 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
}

TEST(FinishedLog, UsesTheDatesOfSteps) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(
        fmt::format("2025-12-31 23:{:02}:{:02} step={}", 50 + i / 60, i % 60, 100 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
}

TEST(FinishedLog, ContinuesWithItsOwnClock) {
  Follower follower = follower_of("");
  const auto line = [](int i) {
    return fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, 1.0 * i);
  };
  for (int i = 1; i <= 150; ++i)
    follower.read_old_line(line(i));
  for (int i = 151; i <= 300; ++i)
    follower.read_line(line(i), 1e6 + 3.0 * i);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_NEAR(follower.state().seen_s, 299.0, 1e-6);
  EXPECT_THAT(follower.clock_text(), HasSubstr("clock of its [steptune] lines"));
}

TEST(FinishedLog, ContinuesWithItsDates) {
  Follower follower = follower_of();
  const auto line = [](int i) {
    return fmt::format("2025-12-31 23:{:02}:{:02} samples={}", 50 + i / 60, i % 60, 100 * i);
  };
  for (int i = 1; i <= 150; ++i)
    follower.read_old_line(line(i));
  for (int i = 151; i <= 300; ++i)
    follower.read_line(line(i), 1e6 + 3.0 * i);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_NEAR(follower.state().seen_s, 299.0, 1e-6);
}

TEST(FinishedLog, WithoutAClockOnlyNewLinesAreTimed) {
  Follower follower = follower_of();
  for (int i = 1; i <= 100; ++i)
    follower.read_old_line(fmt::format("samples={}", 100 * i));
  live(follower, 300, 0.01, 1000.0, 100);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
}

TEST(FinishedLog, MetricsAloneAreNoProgress) {
  Follower follower = follower_of();
  for (int i = 1; i <= 10; ++i)
    follower.read_old_line("loss=3.0");
  EXPECT_THAT(follower.state().reason, HasSubstr("no progress was read"));
}

TEST(Follower, FewReportsAreNamedAsTheReason) {
  Follower follower = follower_of();
  live(follower, 3, 0.01);
  EXPECT_EQ(follower.state().keeping, Keeping::unknown);
  EXPECT_THAT(follower.state().reason, HasSubstr("too few reports"));
}

TEST(Follower, WithoutProgressNamesRefusedLines) {
  Follower follower = follower_of("");
  follower.read_line(R"([steptune] {"v":1,"samples":-3})", 1.0);
  EXPECT_THAT(follower.state().reason, HasSubstr("the first: \"samples\" is -3"));
}

TEST(Follower, WithoutProgressSaysWhatToDo) {
  Follower follower = follower_of();
  follower.read_line("hello", 1.0);
  EXPECT_EQ(follower.state().keeping, Keeping::unknown);
  EXPECT_THAT(follower.state().reason, HasSubstr("no progress was read: does it print what the"));
  EXPECT_THAT(follow_text(follower.promise(), follower.state()), HasSubstr("not known yet"));
}

}  // namespace
}  // namespace steptune
