// SPDX-License-Identifier: Apache-2.0
// Checks verdicts on followed runs against the runs' own figures, over fixed seeds.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/rng.hpp"
#include "tuner/follow/follow_text.hpp"
#include "tuner/follow/follower.hpp"

namespace steptune {
namespace {

/// Returns a promise of 10 ms per sample for a million samples.
Promise ten_ms_promise() {
  Promise promise;
  promise.trial = 2;
  promise.seconds_per_sample = {0.01, 0.0003};
  promise.startup_s = 5.0;
  promise.once_s = 5.0;
  promise.samples = 1e6;
  return promise;
}

Follower new_follower(std::optional<double> started_s = std::nullopt) {
  return Follower::create({"key=value", {}, {}}, ten_ms_promise(), started_s).value();
}

/// Returns lines of a run, with the time of each.
std::vector<std::pair<double, std::string>> random_run(Rng& rng) {
  std::vector<std::pair<double, std::string>> lines;
  const double seconds = 0.01 * (0.9 + 0.2 * rng.uniform());
  double time_s = 3.0;
  double samples = 0.0;
  for (std::uint64_t i = 60 + rng.below(300); i > 0; --i) {
    const double step = 100.0 + static_cast<double>(rng.below(100));
    samples += step;
    time_s += step * seconds * (1.0 + 0.02 * rng.normal());
    lines.emplace_back(time_s, fmt::format("samples={} loss=0.5", samples));
  }
  return lines;
}

FollowState state_after(const std::vector<std::pair<double, std::string>>& lines) {
  Follower follower = new_follower();
  for (const auto& [time_s, line] : lines)
    follower.read_line(line, time_s);
  return follower.state();
}

TEST(AnyFollowedRun, KeepsItsPromiseIfIntervalsOverlap) {
  int broken = 0;
  int faster = 0;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "runs");
    const FollowState state = state_after(random_run(rng));
    ASSERT_NE(state.keeping, Keeping::unknown) << seed << state.reason;
    const Interval95 promised = ten_ms_promise().seconds_per_sample;
    if (state.deviation) {
      EXPECT_TRUE(state.keeping != Keeping::broken || state.deviation->ratio > 1.0) << seed;
      EXPECT_TRUE(state.keeping != Keeping::faster || state.deviation->ratio < 1.0) << seed;
    }
    const Interval95& judged = *state.judged_seconds_per_sample;
    const bool overlap = judged.low() <= promised.high() && promised.low() <= judged.high();
    EXPECT_EQ(state.keeping == Keeping::kept, overlap) << seed;
    broken += state.keeping == Keeping::broken ? 1 : 0;
    faster += state.keeping == Keeping::faster ? 1 : 0;
    kept += state.keeping == Keeping::kept ? 1 : 0;
  }
  EXPECT_GT(broken, 5);
  EXPECT_GT(faster, 5);
  EXPECT_GT(kept, 5);
}

TEST(AnyFollowedRun, HasTheSameStateFromItsLog) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "runs");
    Follower live =
        Follower::create({std::nullopt, {}, {}}, ten_ms_promise(), std::nullopt).value();
    Follower old = Follower::create({std::nullopt, {}, {}}, ten_ms_promise(), std::nullopt).value();
    double samples = 0.0;
    for (const auto& [time_s, text] : random_run(rng)) {
      samples += 100.0;
      const std::string line =
          fmt::format(R"([steptune] {{"v":1,"samples":{},"clock":{}}})", samples, time_s);
      live.read_line(line, time_s + 1000.0);
      old.read_old_line(line);
    }
    EXPECT_EQ(live.state().keeping, old.state().keeping) << seed;
    EXPECT_NEAR(live.state().seconds_per_sample->value, old.state().seconds_per_sample->value,
                1e-9);
    EXPECT_NEAR(live.state().seen_s, old.state().seen_s, 1e-9);
  }
}

TEST(AnyFollowedRun, ExpectsTheRestAtTheCurrentRate) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, "runs");
    const auto lines = random_run(rng);
    const FollowState state = state_after(lines);
    ASSERT_TRUE(state.run_s) << seed;
    const double first_samples = std::stod(lines.front().second.substr(8));
    // The run started before it was watched; until then it counts as promised.
    const double expected = 5.0 + 0.01 * first_samples + state.seen_s +
                            (1e6 - state.samples) * state.judged_seconds_per_sample->value;
    EXPECT_NEAR(state.run_s->value, expected, 1e-6 * expected) << seed;
    EXPECT_NEAR(state.run_s->half_width,
                (1e6 - state.samples) * state.judged_seconds_per_sample->half_width,
                1e-6 * expected);
  }
}

TEST(AnyFollowedRun, IgnoresOtherLines) {
  Rng rng(5, "runs");
  const auto lines = random_run(rng);
  Follower chatty = new_follower();
  for (const auto& [time_s, line] : lines) {
    chatty.read_line("", time_s);
    chatty.read_line("saving to /tmp/x \xff\xfe", time_s);
    chatty.read_line(line, time_s);
    chatty.read_line("done", time_s);
  }
  EXPECT_EQ(follow_text(ten_ms_promise(), chatty.state()),
            follow_text(ten_ms_promise(), state_after(lines)));
}

TEST(AnyFollowedRun, BeyondItsPlanNothingIsLeft) {
  Follower follower = new_follower(0.0);
  for (int i = 1; i <= 300; ++i)
    follower.read_line(fmt::format("samples={}", 10'000 * i), 100.0 * i);
  const FollowState state = follower.state();
  ASSERT_TRUE(state.run_s) << state.reason;
  EXPECT_NEAR(state.run_s->value, 30'000.0, 1e-6) << "the time so far; the run is over";
  EXPECT_EQ(state.run_s->half_width, 0.0);
}

TEST(AnyFollowedRun, TextAndDocumentAgree) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "runs");
    const FollowState state = state_after(random_run(rng));
    const Json json = follow_json(ten_ms_promise(), state);
    EXPECT_EQ(json["promise"], to_text(state.keeping));
    EXPECT_EQ(json["trial"], 2);
    EXPECT_EQ(json["seen"]["samples"], state.samples);
    EXPECT_EQ(json["seen"]["seconds_per_sample"]["low_95"], state.seconds_per_sample->low());
    EXPECT_EQ(json["deviation"].is_null(), !state.deviation);
    EXPECT_EQ(json["reason"], nullptr);
    const std::string text = follow_text(ten_ms_promise(), state);
    EXPECT_EQ(text.find("\nsince ") != std::string::npos, state.deviation.has_value());
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')),
              5U + (state.deviation ? 1U : 0U) + state.causes.size())
        << text;
    EXPECT_EQ(follow_line(ten_ms_promise(), state).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace steptune
