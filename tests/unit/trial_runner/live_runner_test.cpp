// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/live_runner.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
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
    const Json asked =
        parse_json(inner_->started.back().environment.at(k_pytorch_hook_variable), "hook").value();
    hook_.emplace(asked["channel"].get<std::string>());
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
  static constexpr const char* k_refusal = "cannot start a process";
  SystemClock clock_;
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

}  // namespace
}  // namespace steptune
