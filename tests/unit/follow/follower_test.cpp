// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follower.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tuner/follow/causes.hpp"
#include "tuner/follow/follow_text.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 10 ms a sample, of a million.
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

/// A run of 100 samples a line, `seconds` each; returns the time of its last line.
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
}

TEST(Follower, ASlowerRunBreaksItAndSaysSinceWhen) {
  Follower follower = follower_of();
  const double time_s = live(follower, 200, 0.01);
  live(follower, 200, 0.015, time_s, 200);
  const FollowState state = follower.state();
  EXPECT_EQ(state.keeping, Keeping::broken);
  ASSERT_TRUE(state.seconds_per_sample_now);
  EXPECT_NEAR(state.seconds_per_sample_now->value, 0.015, 1e-6);
  ASSERT_TRUE(state.deviation);
  EXPECT_NEAR(state.deviation->since.samples, 20'000.0, 1000.0);
  EXPECT_NEAR(state.deviation->ratio, 1.5, 0.02);
  EXPECT_NEAR(state.run_s->value, 5.0 + 200 + 980'000 * 0.015, 150.0);
  const std::string text = follow_text(follower.promise(), state);
  EXPECT_THAT(text, HasSubstr("promise  broken"));
  EXPECT_THAT(text, HasSubstr("% more time per sample than promised"));
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

TEST(Follower, AFasterRunKeepsIt) {
  Follower follower = follower_of();
  live(follower, 300, 0.008);
  EXPECT_EQ(follower.state().keeping, Keeping::faster);
}

TEST(Follower, AStartedProgramsStartIsInItsTime) {
  Follower follower = follower_of("key=value", 0.0);
  live(follower, 300, 0.01, 60.0);
  EXPECT_NEAR(follower.state().run_s->value, 60.0 + 10'000.0, 1.0);
}

PhaseEstimate phase(double seconds, double period_samples) {
  PhaseEstimate phase;
  phase.count = 3.0;
  phase.seconds = seconds;
  phase.seconds_error = 0.1;
  phase.period_samples = period_samples;
  return phase;
}

TEST(Causes, TellPhasesThatAreLongerOftenerOrNew) {
  Promise promised = promise();
  promised.phases = {{"evaluation", phase(2.0, 1000)}, {"checkpoint", phase(1.0, 4000)}};
  Measurement seen;
  seen.phases = {{"evaluation", phase(6.0, 1000)},
                 {"checkpoint", phase(1.0, 2000)},
                 {"stall", phase(1.0, 1000)},
                 {"export", phase(0.01, 1000)}};
  EXPECT_THAT(causes_of(promised, seen, std::nullopt),
              ElementsAre(HasSubstr("checkpoint comes every 2000 samples, in the trial every 4000"),
                          HasSubstr("evaluation takes 6.0 s, in the trial it took 2.0 s"),
                          HasSubstr("stall was not seen in the trial and takes 1.0 s")))
      << "what takes a thousandth of the time is no cause";
}

TEST(Causes, TellPartsThatGrew) {
  Promise promised = promise();
  promised.parts = {{"data", 0.001}, {"compute", 0.009}};
  Measurement seen;
  seen.parts = {{"data", 0.004}, {"compute", 0.009}};
  EXPECT_THAT(causes_of(promised, seen, Deviation{{}, 1.3}),
              ElementsAre(HasSubstr("the part \"data\" of a sample takes 4 ms, in the trial it "
                                    "took 1 ms: storage, page cache")));
}

TEST(FinishedLog, OfSteptuneLinesHasTheirClock) {
  Follower follower = follower_of("");
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(
        fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", 100 * i, 1.2 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::broken);
  EXPECT_NEAR(follower.state().seconds_per_sample->value, 0.012, 1e-6);
  EXPECT_THAT(follower.clock_text(), HasSubstr("clock of its [steptune] lines"));
}

TEST(FinishedLog, OfDatesHasTheirs) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i) {
    follower.read_old_line(fmt::format("[2025-12-31 23:{:02}:{:02},500] step={} samples={}",
                                       50 + i / 60, i % 60, i, 100 * i));
  }
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
  EXPECT_THAT(follower.clock_text(), HasSubstr("dates of its lines"));
}

TEST(FinishedLog, OfProgressBarsHasTheirElapsedTime) {
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
  EXPECT_THAT(follower.clock_text(), HasSubstr("between two bars is not in it"));
}

TEST(FinishedLog, WithoutAnyClockSaysThatNothingCanBeSaid) {
  Follower follower = follower_of();
  for (int i = 1; i <= 300; ++i)
    follower.read_old_line(fmt::format("step={} samples={}", i, 100 * i));
  EXPECT_EQ(follower.state().keeping, Keeping::unknown);
  EXPECT_THAT(follower.state().reason, HasSubstr("does not say when its lines were printed"));
  EXPECT_THAT(follower.state().reason, HasSubstr("-- COMMAND"));
}

TEST(FinishedLog, ThatGoesOnIsFollowedFromThereWhereItHasNoClock) {
  Follower follower = follower_of();
  for (int i = 1; i <= 100; ++i)
    follower.read_old_line(fmt::format("samples={}", 100 * i));
  live(follower, 300, 0.01, 1000.0, 100);
  EXPECT_EQ(follower.state().keeping, Keeping::kept) << follower.state().reason;
}

TEST(Follower, WithoutProgressSaysWhatToDo) {
  Follower follower = follower_of();
  follower.read_line("hello", 1.0);
  EXPECT_EQ(follower.state().keeping, Keeping::unknown);
  EXPECT_THAT(follower.state().reason, HasSubstr("no progress was read"));
  EXPECT_THAT(follow_text(follower.promise(), follower.state()), HasSubstr("not known yet"));
}

}  // namespace
}  // namespace steptune
