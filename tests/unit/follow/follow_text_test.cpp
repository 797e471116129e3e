// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follow_text.hpp"

#include <gmock/gmock.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PhaseEstimate phase_seen(double seconds, std::optional<double> period_samples) {
  PhaseEstimate phase;
  phase.count = 3.0;
  phase.seconds = seconds;
  if (period_samples) phase.period_samples = *period_samples;
  return phase;
}

/// Returns a promise of 10 ms per sample for a million samples.
Promise promised_plan() {
  Promise promise;
  promise.trial = 4;
  promise.configuration.set("workers", std::int64_t{6});
  promise.seconds_per_sample = {0.01, 0.0002};
  promise.once_s = 80.0;
  promise.samples = 1e6;
  promise.phases = {{"evaluation", phase_seen(2.0, 1000.0)}};
  return promise;
}

/// Returns a run that is a quarter slower since 20'000 samples.
FollowState slower_run() {
  FollowState state;
  state.keeping = Keeping::broken;
  state.seen_s = 500.0;
  state.samples = 40'000.0;
  state.promised = Interval95{0.01, 0.0002};
  state.seconds_per_sample = Interval95{0.0125, 0.0002};
  state.seconds_per_sample_now = Interval95{0.016, 0.0004};
  state.judged_seconds_per_sample = Interval95{0.015, 0.0003};
  state.run_s = Interval95{12'500.0, 250.0};
  state.phases = {{"checkpoint", phase_seen(4.0, std::nullopt)},
                  {"evaluation", phase_seen(6.0, 500.0)}};
  state.deviation = Deviation{{20'000.0, 200.0}, 1.25};
  state.causes = {"another machine"};
  return state;
}

TEST(FollowText, NamesThePhasesBeforeTheirFirstTime) {
  FollowState state = slower_run();
  state.promised = Interval95{0.008, 0.0002};
  state.awaited = {"evaluation"};
  EXPECT_THAT(follow_text(promised_plan(), state),
              HasSubstr("promised 125 samples/s (122-128.2) before the first evaluation\n"));
}

TEST(FollowText, HasALineForEveryFinding) {
  EXPECT_EQ(follow_text(promised_plan(), slower_run()),
            R"(promise  broken: slower than promised, beyond both intervals
rate     66.67 samples/s (65.36-68.03) since 20000 samples, promised 100 samples/s (98.04-102)
now      62.5 samples/s (60.98-64.1)
run      3.5 h (3.4 h-3.5 h) expected, promised 2.8 h (2.7 h-2.9 h)
seen     8 min 20 s, 40000 samples, 80 samples/s in all
phase    checkpoint: 3 seen, 4.0 s each; promised none
phase    evaluation: 3 seen, 6.0 s each, every 500 samples; promised 2.0 s each, every 1000 samples
since    20000 samples (3 min 20 s): 25.0 % more time per sample than promised
changed  another machine
)");
}

TEST(FollowText, CountsInTheStudysUnit) {
  Promise promise = promised_plan();
  promise.unit = {"epochs"};
  const std::string text = follow_text(promise, slower_run()) + follow_line(promise, slower_run());
  EXPECT_THAT(text,
              HasSubstr("66.67 epochs/s (65.36-68.03) since 20000 epochs, promised 100 epochs/s"));
  EXPECT_THAT(text,
              HasSubstr("6.0 s each, every 500 epochs; promised 2.0 s each, every 1000 epochs"));
  EXPECT_THAT(text, HasSubstr("25.0 % more time per epoch than promised"));
  EXPECT_THAT(text, Not(HasSubstr("sample")));
}

TEST(FollowText, LeavesOutWhatIsNotKnown) {
  FollowState state = slower_run();
  state.seconds_per_sample_now.reset();
  state.run_s.reset();
  state.phases.clear();
  state.deviation.reset();
  state.judged_seconds_per_sample = state.seconds_per_sample;
  state.causes.clear();
  EXPECT_EQ(follow_text(promised_plan(), state),
            R"(promise  broken: slower than promised, beyond both intervals
rate     80 samples/s (78.74-81.3), promised 100 samples/s (98.04-102)
seen     8 min 20 s, 40000 samples
)");
  state.run_s = Interval95{12'500.0, 250.0};
  Promise of_no_length = promised_plan();
  of_no_length.samples.reset();
  EXPECT_THAT(follow_text(of_no_length, state), Not(HasSubstr("expected")));
}

TEST(FollowText, AFasterRunIsReportedAsLessTime) {
  FollowState state = slower_run();
  state.deviation->ratio = 0.9;
  EXPECT_THAT(follow_text(promised_plan(), state), HasSubstr(": 10.0 % less time per sample than"));
}

TEST(FollowText, AnIntervalThatIncludesZeroHasNoHighestRate) {
  FollowState state = slower_run();
  state.judged_seconds_per_sample = Interval95{0.01, 0.01};
  state.run_s = Interval95{600.0, 1200.0};
  const std::string text = follow_text(promised_plan(), state);
  EXPECT_THAT(text, HasSubstr("rate     100 samples/s (50 or more) since 20000 samples, promised"));
  EXPECT_THAT(text, HasSubstr("run      10 min (0 ms-30 min) expected"));
}

TEST(FollowLine, ShowsTheCurrentAndPromisedRate) {
  EXPECT_EQ(follow_line(promised_plan(), slower_run()),
            "8 min 20 s  40000 samples  62.5 samples/s (60.98-64.1) now, promised 100 samples/s "
            "(98.04-102); 3.5 h expected, promised 2.8 h");
  FollowState state = slower_run();
  state.seconds_per_sample_now.reset();
  state.run_s.reset();
  EXPECT_EQ(follow_line(promised_plan(), state),
            "8 min 20 s  40000 samples  80 samples/s (78.74-81.3) now, promised 100 samples/s "
            "(98.04-102)");
  state.seconds_per_sample.reset();
  state.reason = "no progress was read";
  EXPECT_EQ(follow_line(promised_plan(), state), "waiting for progress: no progress was read");
}

TEST(FollowJson, ContainsPromiseAndRun) {
  Promise promised = promised_plan();
  promised.seconds_per_sample = {0.25, 0.0625};
  FollowState state = slower_run();
  state.seconds_per_sample = Interval95{0.5, 0.125};
  state.seconds_per_sample_now = Interval95{0.75, 0.25};
  state.judged_seconds_per_sample = Interval95{0.625, 0.125};
  state.promised = Interval95{0.25, 0.0625};
  EXPECT_EQ(follow_json(promised, state), Json::parse(R"({
    "trial": 4, "configuration": {"workers": 6}, "promise": "broken", "reason": null,
    "promised": {
      "seconds_per_sample": {"value": 0.25, "low_95": 0.1875, "high_95": 0.3125},
      "run_s": {"value": 250080.0, "low_95": 187580.0, "high_95": 312580.0},
      "phases": {"evaluation": {"count": 3.0, "seconds": 2.0, "period_samples": 1000.0}}},
    "seen": {
      "seconds": 500.0, "samples": 40000.0,
      "seconds_per_sample": {"value": 0.5, "low_95": 0.375, "high_95": 0.625},
      "seconds_per_sample_now": {"value": 0.75, "low_95": 0.5, "high_95": 1.0},
      "promised_seconds_per_sample": {"value": 0.25, "low_95": 0.1875, "high_95": 0.3125},
      "awaited_phases": [],
      "judged_seconds_per_sample": {"value": 0.625, "low_95": 0.5, "high_95": 0.75},
      "run_s": {"value": 12500.0, "low_95": 12250.0, "high_95": 12750.0},
      "phases": {
        "checkpoint": {"count": 3.0, "seconds": 4.0, "period_samples": null},
        "evaluation": {"count": 3.0, "seconds": 6.0, "period_samples": 500.0}}},
    "deviation": {"since_samples": 20000.0, "since_s": 200.0, "ratio": 1.25},
    "changed": ["another machine"]})"));
}

TEST(FollowJson, UnknownFiguresAreNull) {
  FollowState state;
  state.reason = "no progress was read";
  const Json json = follow_json(promised_plan(), state);
  EXPECT_EQ(json["promise"], "unknown");
  EXPECT_EQ(json["reason"], "no progress was read");
  EXPECT_TRUE(json["seen"]["run_s"].is_null());
  EXPECT_TRUE(json["deviation"].is_null());
}

}  // namespace
}  // namespace steptune
