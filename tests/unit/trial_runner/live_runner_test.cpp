// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/live_runner.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/unit/trial_runner/fake_hook.hpp"
#include "tests/unit/trial_runner/scripted_runner.hpp"
#include "trial_runner/hooks/pytorch_hook.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

class LiveRunnerTest : public ::testing::Test {
 protected:
  LiveRunnerTest() {
    auto inner = std::make_unique<ScriptedRunner>();
    inner_ = inner.get();
    runner_ = make_live_runner(clock_, std::move(inner));
    EXPECT_TRUE(runner_->begin_study("s", "s@1"));
  }

  static TrialSpec trial(std::int64_t number) {
    TrialSpec spec;
    spec.key = {number, 1};
    spec.argv = {"python3", "train.py"};
    return spec;
  }
  /// One of the program's own settings, measured without turns.
  static TrialSpec live_trial(std::int64_t number) {
    TrialSpec spec = trial(number);
    spec.live = LiveTrial{};
    return spec;
  }
  /// A trial that shares a program, whose hook has connected.
  void share_a_program(std::int64_t number) {
    ASSERT_TRUE(runner_->start(live_trial(number)));
    ASSERT_EQ(inner_->started.back().key, k_program);
    connect();
    static_cast<void>(hook_->switches());
  }
  /// What the program that was started last is asked for.
  [[nodiscard]] Json asked_of_hook() const {
    return parse_json(inner_->started.back().environment.at(k_pytorch_hook_variable), "hook")
        .value();
  }
  /// Its hook says hello.
  void connect(int world_size = 1) {
    hook_.emplace(asked_of_hook()["channel"].get<std::string>(), world_size);
    static_cast<void>(now());
  }
  /// That many seconds later the program prints a line.
  void print_after(double seconds) {
    clock_.advance_to(clock_.now_s() + seconds);
    inner_->now_s = clock_.now_s();
    inner_->tell(k_program, "{}");
    static_cast<void>(now());
  }
  /// One that differs from the program's own settings in this.
  static TrialSpec trial_with(std::int64_t number, const std::string& knob) {
    TrialSpec spec = live_trial(number);
    spec.live->knobs[knob] = std::int64_t{2};
    return spec;
  }
  /// One with two workers, in turns with the baseline, whose steps take 0.0625 s.
  static TrialSpec workers_trial(std::int64_t number) {
    TrialSpec spec = trial_with(number, "num_workers");
    spec.live->baseline_seconds_per_sample = 0.0625 / 8.0;
    return spec;
  }
  /// The program connects.
  void begin_workers_trial() {
    ASSERT_TRUE(runner_->start(workers_trial(1)));
    connect();
    static_cast<void>(hook_->switches());
    hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":true,"today":0,"value":2}})");
  }
  /// The same, and the first block of the baseline is over, with a finite loss.
  void reach_workers_trial() {
    begin_workers_trial();
    hook_->make_steps(12, 0.0625, k_finite);
    static_cast<void>(now());
    static_cast<void>(hook_->switches());
  }
  [[nodiscard]] std::vector<TrialEvent> now() const {
    return runner_->wait(clock_.now_s()).value();
  }
  /// How the only trial that has ended since did so.
  [[nodiscard]] std::optional<TrialFinished> ended() const {
    std::optional<TrialFinished> found;
    for (const TrialEvent& event : now()) {
      const auto* finished = std::get_if<TrialFinished>(&event);
      if (finished == nullptr) continue;
      EXPECT_FALSE(found);
      found = *finished;
    }
    return found;
  }
  void expect_end(TrialKey key, OutcomeKind kind, const std::string& why) {
    const auto end = ended();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->key, key);
    EXPECT_EQ(end->outcome.kind, kind) << end->outcome.detail;
    EXPECT_THAT(end->outcome.detail, HasSubstr(why));
    // Its place is free.
    inner_->refuses = false;
    EXPECT_TRUE(runner_->start(trial(99)));
  }

  static constexpr TrialKey k_program{0, 1};
  static constexpr const char* k_finite = R"(,"loss":0.5)";
  static constexpr const char* k_not_finite = R"(,"not_finite":["loss"])";
  static constexpr const char* k_refusal = "cannot start a process";
  VirtualClock clock_;
  ScriptedRunner* inner_ = nullptr;
  std::optional<FakeHook> hook_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(LiveRunnerTest, ATrialThatWaitedForTheProgramsEndAndCannotBeStartedEndsSo) {
  share_a_program(1);
  runner_->stop({1, 1});
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::stopped);
  ASSERT_TRUE(runner_->start(trial(2)));  // the program is asked to end
  inner_->refuses = true;
  expect_end({2, 1}, OutcomeKind::not_started, k_refusal);
}

TEST_F(LiveRunnerTest, ATrialThatNeedsAProcessOfItsOwnAndCannotBeStartedEndsSo) {
  share_a_program(1);
  inner_->end(k_program, OutcomeKind::failed);
  inner_->refuses = true;
  expect_end({1, 1}, OutcomeKind::not_started, k_refusal);
}

TEST_F(LiveRunnerTest, ATrialWhoseProgramEndsIsLostWhereNoOtherCanBeStarted) {
  share_a_program(1);
  hook_->make_steps(30, 0.05);
  static_cast<void>(now());
  inner_->end(k_program, OutcomeKind::completed);
  inner_->refuses = true;
  expect_end({1, 1}, OutcomeKind::lost, k_refusal);
}

TEST_F(LiveRunnerTest, ATrialWhoseHookWithdrawsIsLostAndNotStartedASecondTime) {
  share_a_program(1);
  hook_->make_steps(30, 0.05);
  static_cast<void>(now());
  hook_->say(R"({"hook":{"event":"disabled","why":"two optimizers"}})");
  hook_->leave();
  expect_end({1, 1}, OutcomeKind::lost, "two optimizers");
}

TEST_F(LiveRunnerTest, AHookThatWithdrawsBetweenTwoTrialsLeavesTheNextAProcessOfItsOwn) {
  share_a_program(1);
  runner_->stop({1, 1});
  hook_->say(R"({"hook":{"event":"disabled","why":"two optimizers"}})");
  hook_->leave();
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::stopped);
  ASSERT_TRUE(runner_->start(live_trial(2)));
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{2, 1}));
}

TEST_F(LiveRunnerTest, AProgramThatPrintsAndNeverConnectsLeavesTrialsToProcessesOfTheirOwn) {
  ASSERT_TRUE(runner_->start(live_trial(1)));
  print_after(60.0);
  print_after(15.0);
  EXPECT_EQ(inner_->started.size(), 1U) << "it may still connect";
  print_after(0.5);
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{1, 1}));
  inner_->end({1, 1}, OutcomeKind::completed);
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::completed);
  ASSERT_TRUE(runner_->start(live_trial(2)));
  EXPECT_EQ(inner_->started.back().key, (TrialKey{2, 1})) << "nor is another program shared";
}

TEST_F(LiveRunnerTest, WhatTheProgramCannotSwitchHasAProcessOfItsOwnAndAllElseAnotherProgram) {
  share_a_program(1);
  hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":false}})");
  static_cast<void>(now());
  runner_->stop({1, 1});
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::stopped);
  ASSERT_TRUE(runner_->start(trial_with(2, "num_workers")));
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{2, 1}));
  inner_->end({2, 1}, OutcomeKind::completed);
  EXPECT_EQ(ended().value().key, (TrialKey{2, 1}));
  ASSERT_TRUE(runner_->start(trial_with(3, "num_workers")));
  EXPECT_EQ(inner_->started.back().key, (TrialKey{3, 1})) << "it is remembered";
  inner_->end({3, 1}, OutcomeKind::completed);
  EXPECT_EQ(ended().value().key, (TrialKey{3, 1}));
  ASSERT_TRUE(runner_->start(trial_with(4, "set_to_none")));
  EXPECT_EQ(inner_->started.back().key, (TrialKey{0, 2}));
}

TEST_F(LiveRunnerTest, SettingsThatDoNotComeIntoForceAreMeasuredInAProcessOfTheirOwn) {
  share_a_program(1);
  hook_->make_steps(30, 0.05);
  static_cast<void>(now());
  runner_->stop({1, 1});
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::stopped);
  ASSERT_TRUE(runner_->start(trial_with(2, "num_workers")));
  static_cast<void>(hook_->switches());
  hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":true,"today":0,"value":0}})");
  hook_->make_steps(1, 0.05);
  static_cast<void>(now());
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{2, 1}));
}

TEST_F(LiveRunnerTest, ATrialWhoseSettingsAreRefusedLaterTellsSo) {
  ASSERT_TRUE(runner_->start(trial_with(1, "num_workers")));
  connect();
  static_cast<void>(hook_->switches());
  hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":true,"today":0,"value":2}})");
  hook_->make_steps(30, 0.05);
  static_cast<void>(now());
  hook_->say(
      R"({"hook":{"event":"knob","knob":"num_workers","may":false,"today":0,"value":0,"why":"killed"}})");
  hook_->make_steps(30, 0.05);
  std::vector<std::string> told;
  for (const TrialEvent& event : now()) {
    const auto* reported = std::get_if<TrialReported>(&event);
    ASSERT_NE(reported, nullptr);
    told.insert(told.end(), reported->report.hook_events.begin(),
                reported->report.hook_events.end());
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("killed"));
}

TEST_F(LiveRunnerTest, ProcessesThatTrainSideBySideAreMeasuredInProcessesOfTheirOwn) {
  share_a_program(1);
  const FakeHook other(asked_of_hook()["channel"].get<std::string>());
  static_cast<void>(now());
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{1, 1}));
  inner_->end({1, 1}, OutcomeKind::completed);
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::completed);
  ASSERT_TRUE(runner_->start(live_trial(2)));
  EXPECT_EQ(inner_->started.back().key, (TrialKey{2, 1})) << "nor is another program shared";
}

TEST_F(LiveRunnerTest, ATrialWhoseProgramFailsEndsAsThatDid) {
  share_a_program(1);
  hook_->make_steps(30, 0.05);
  static_cast<void>(now());
  inner_->end(k_program, OutcomeKind::out_of_memory);
  expect_end({1, 1}, OutcomeKind::out_of_memory, "");
}

TEST_F(LiveRunnerTest, ATrialWhoseProgramIsOverGoesOnInTheNextAndStartsOnce) {
  share_a_program(1);
  hook_->make_steps(30, 0.05);
  int starts = 0;
  const auto count = [&](const std::vector<TrialEvent>& events) {
    int reports = 0;
    for (const TrialEvent& event : events) {
      EXPECT_EQ(key_of(event), (TrialKey{1, 1}));
      EXPECT_FALSE(std::holds_alternative<TrialFinished>(event));
      starts += std::holds_alternative<TrialStarted>(event) ? 1 : 0;
      reports += std::holds_alternative<TrialReported>(event) ? 1 : 0;
    }
    return reports;
  };
  EXPECT_GT(count(now()), 0);
  inner_->end(k_program, OutcomeKind::completed);
  EXPECT_EQ(count(now()), 0);
  ASSERT_EQ(inner_->started.back().key, (TrialKey{0, 2}));
  connect();
  static_cast<void>(hook_->switches());
  hook_->make_steps(30, 0.05);
  EXPECT_GT(count(now()), 0);
  EXPECT_EQ(starts, 1);
}

TEST_F(LiveRunnerTest, TheProgramIsALaunchLikeOthersButForItsLengthAndItsLog) {
  TrialSpec spec = live_trial(1);
  spec.log_path = "/logs/trial-1.log";
  spec.limits.wall_s = 60.0;
  spec.limits.idle_s = 30.0;
  spec.live->samples_per_step = 64.0;
  spec.forked = ForkedStart{};
  ASSERT_TRUE(runner_->start(spec));
  const TrialSpec& program = inner_->started.back();
  EXPECT_EQ(program.argv, spec.argv);
  EXPECT_EQ(program.log_path, "/logs/live-1.log");
  EXPECT_GE(program.limits.wall_s, 1e9) << "trials have limits of their own";
  EXPECT_EQ(program.limits.idle_s, 30.0);
  EXPECT_FALSE(program.live);
  EXPECT_FALSE(program.forked);
  EXPECT_EQ(asked_of_hook()["samples_per_step"], 64.0);
}

TEST_F(LiveRunnerTest, RanksHearOfASwitchAFewStepsBefore) {
  ASSERT_TRUE(runner_->start(workers_trial(1)));
  connect(/*world_size=*/2);
  EXPECT_EQ(hook_->switches().at(0)["from_step"], 1) << "nothing was trained before";
  hook_->make_steps(5, 0.0625);
  static_cast<void>(now());
  const auto told = hook_->switches();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["knobs"], Json({{"num_workers", 2}}));
  EXPECT_EQ(told[0]["from_step"], 9) << "a tenth of a second later, at 16 steps a second";
}

TEST_F(LiveRunnerTest, AfterATrialTheProgramHasItsOwnSettingsAgain) {
  ASSERT_TRUE(runner_->start(trial_with(1, "num_workers")));
  connect();
  EXPECT_EQ(hook_->switches().at(0)["knobs"], Json({{"num_workers", 2}}));
  hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":true,"today":0,"value":2}})");
  hook_->make_steps(12, 0.05);
  static_cast<void>(now());
  runner_->stop({1, 1});
  const auto told = hook_->switches();
  ASSERT_EQ(told.size(), 1U) << "or its steps would count as the baseline's";
  EXPECT_EQ(told[0]["knobs"], Json::object());
}

TEST_F(LiveRunnerTest, StepsThatAreMadeBeforeTheProgramHearsOfASwitchDoNotCount) {
  ASSERT_TRUE(runner_->start(workers_trial(1)));
  connect();
  hook_->say(R"({"hook":{"event":"knob","knob":"num_workers","may":true,"today":0,"value":2}})");
  std::optional<ComparedRate> compared;
  for (int turn = 0; turn < 8; ++turn) {
    hook_->make_steps(2, 5.0);
    for (const Json& change : hook_->switches())
      hook_->make_steps(12, change["knobs"].empty() ? 0.0625 : 0.03125);
    for (const TrialEvent& event : now()) {
      const auto* reported = std::get_if<TrialReported>(&event);
      if (reported != nullptr && reported->report.compared) compared = reported->report.compared;
    }
  }
  ASSERT_TRUE(compared);
  EXPECT_NEAR(compared->seconds_per_sample, 0.03125 / 8.0, 1e-5);
}

TEST_F(LiveRunnerTest, ATrialThatMakesTheLossInfiniteFailsAndTheNextOneHasAnotherProgram) {
  reach_workers_trial();
  hook_->make_steps(1, 0.0625);
  hook_->make_steps(1, 0.0625, k_not_finite);
  const auto end = ended();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->key, (TrialKey{1, 1}));
  EXPECT_EQ(end->outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(end->outcome.detail, HasSubstr("loss became infinite or NaN"));
  ASSERT_TRUE(runner_->start(trial_with(2, "set_to_none")));
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{0, 2}));
}

TEST_F(LiveRunnerTest, ATrialThatMakesTheLossInfiniteAtOnceIsMeasuredInAProcessOfItsOwn) {
  reach_workers_trial();
  hook_->make_steps(1, 0.0625, k_not_finite);
  EXPECT_FALSE(ended());
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{1, 1}));
}

TEST_F(LiveRunnerTest, ALossThatIsSeenToBeInfiniteOnlyInTheNextBlockIsTheTrials) {
  reach_workers_trial();
  hook_->make_steps(12, 0.0625);
  static_cast<void>(now());
  ASSERT_EQ(hook_->switches().at(0)["knobs"], Json::object());
  hook_->make_steps(1, 0.0625, k_not_finite);
  const auto end = ended();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome.kind, OutcomeKind::failed);
}

TEST_F(LiveRunnerTest, ALossThatIsInfiniteWithTheProgramsOwnSettingsIsNoTrials) {
  begin_workers_trial();
  hook_->make_steps(6, 0.0625, k_finite);
  hook_->make_steps(6, 0.0625, k_not_finite);
  static_cast<void>(now());
  static_cast<void>(hook_->switches());
  hook_->make_steps(12, 0.0625, k_not_finite);
  EXPECT_FALSE(ended());
  EXPECT_EQ(inner_->started.size(), 1U);
}

TEST_F(LiveRunnerTest, ALossThatIsInfiniteNowAndThenAnywayIsNoTrials) {
  begin_workers_trial();
  for (int time = 0; time < 4; ++time) {
    hook_->make_steps(2, 0.0625, k_finite);
    hook_->make_steps(1, 0.0625, k_not_finite);
  }
  static_cast<void>(now());
  static_cast<void>(hook_->switches());
  for (int time = 0; time < 4; ++time) {
    hook_->make_steps(2, 0.0625, k_finite);
    hook_->make_steps(1, 0.0625, k_not_finite);
  }
  EXPECT_FALSE(ended());
  EXPECT_EQ(inner_->started.size(), 1U);
}

TEST_F(LiveRunnerTest, WhereEitherOfTwoTrialsMadeTheLossInfiniteTheLaterOneIsMeasuredAnew) {
  reach_workers_trial();
  hook_->make_steps(12, 0.0625);
  static_cast<void>(now());
  runner_->stop({1, 1});
  EXPECT_EQ(ended().value().outcome.kind, OutcomeKind::stopped);
  ASSERT_TRUE(runner_->start(workers_trial(2)));
  for (int turn = 0; turn < 2; ++turn) {
    static_cast<void>(hook_->switches());
    hook_->make_steps(12, 0.0625);
    static_cast<void>(now());
  }
  hook_->make_steps(1, 0.0625, k_not_finite);
  EXPECT_FALSE(ended());
  static_cast<void>(now());  // the program has ended
  EXPECT_EQ(inner_->started.back().key, (TrialKey{0, 2}));
}

TEST_F(LiveRunnerTest, OfTrialsThatADeadTunerLeftTheProgramIsEnded) {
  const std::vector<Runner::Orphan> left = {
      {live_trial(3), "live/2/a/token"}, {trial(4), "token"}, {live_trial(5), "live/"}};
  ASSERT_TRUE(runner_->adopt(left));
  ASSERT_EQ(inner_->asked_to_adopt.size(), 3U);
  EXPECT_EQ(inner_->asked_to_adopt[0].spec.key, (TrialKey{0, 2}));
  EXPECT_EQ(inner_->asked_to_adopt[0].token, "a/token");
  EXPECT_EQ(inner_->asked_to_adopt[1].spec.key, (TrialKey{4, 1}));
  EXPECT_EQ(inner_->asked_to_adopt[1].token, "token");
  EXPECT_EQ(inner_->asked_to_adopt[2].token, "");
}

}  // namespace
}  // namespace steptune
