// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/forked/forked_runner.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trial_runner/scripted_runner.hpp"
#include "trial_runner/hooks/python_hook.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ForkedRunnerTest : public ::testing::Test {
 protected:
  ForkedRunnerTest() { begin(); }
  /// Starts a study with a new runner.
  void begin() {
    auto inner = std::make_unique<ScriptedRunner>();
    inner_ = inner.get();
    runner_ = make_forked_runner(clock_, std::move(inner));
    EXPECT_TRUE(runner_->begin_study("s", "s@1"));
  }
  static TrialSpec trial(std::int64_t number, bool may_fork = true) {
    TrialSpec spec;
    spec.key = {number, 1};
    spec.argv = {"python3", "train.py"};
    spec.environment[k_python_hook_variable] = R"({"v":1,"mode":"report","events":"/x/1.hook"})";
    spec.environment["NUMBER"] = std::to_string(number);
    spec.log_path = fmt::format("/logs/trial-{}.log", number);
    if (may_fork) spec.forked_modules.emplace();
    return spec;
  }
  /// Returns the trials that have ended since the last call. The runner's checks are no trials.
  std::vector<std::int64_t> ended() {
    std::vector<std::int64_t> numbers;
    const auto events = runner_->wait(clock_.now_s()).value();
    for (const TrialEvent& event : events) {
      if (const auto* finished = std::get_if<TrialFinished>(&event)) {
        numbers.push_back(finished->key.trial);
        outcomes_.push_back(finished->outcome);
      } else if (const auto* started = std::get_if<TrialStarted>(&event)) {
        EXPECT_GT(started->key.trial, 0);
      }
    }
    return numbers;
  }
  /// Runs the first trial in a new process. A forked run must repeat its loss.
  void run_reference() {
    ASSERT_TRUE(runner_->start(trial(1)));
    EXPECT_FALSE(latest().forked_modules);
    inner_->tell(latest().key, R"({"event":"imports","modules":["numpy","PIL.Image"]})");
    inner_->report_losses(latest().key, "2.25");
    inner_->end(latest().key, OutcomeKind::completed);
    EXPECT_THAT(ended(), ElementsAre(1));
  }
  [[nodiscard]] const TrialSpec& latest() const { return inner_->started.back(); }

  SystemClock clock_;
  ScriptedRunner* inner_ = nullptr;
  std::unique_ptr<Runner> runner_;
  std::vector<Outcome> outcomes_;
};

TEST_F(ForkedRunnerTest, ForksIfLossesEqualThoseOfAFreshStart) {
  run_reference();
  ASSERT_TRUE(runner_->start(trial(2)));
  // The check repeats the first trial, with a separate log.
  EXPECT_LT(latest().key.trial, 0);
  EXPECT_EQ(latest().environment.at("NUMBER"), "1");
  EXPECT_EQ(latest().environment.at(k_python_hook_variable), R"({"v":1,"mode":"report"})");
  EXPECT_EQ(latest().log_path, "/logs/fork-check.log");
  ASSERT_TRUE(latest().forked_modules);
  EXPECT_THAT(*latest().forked_modules, ElementsAre("numpy", "PIL.Image"));
  EXPECT_LE(latest().limits.wall_s, 60.0);
  EXPECT_THAT(ended(), IsEmpty());

  inner_->report_losses(latest().key, "2.25");
  EXPECT_THAT(ended(), IsEmpty());  // the check is asked to end
  EXPECT_THAT(ended(), IsEmpty());
  ASSERT_EQ(latest().key.trial, 2);
  EXPECT_TRUE(latest().forked_modules);
  inner_->end(latest().key, OutcomeKind::completed);
  EXPECT_THAT(ended(), ElementsAre(2));
  ASSERT_TRUE(runner_->start(trial(3)));
  EXPECT_EQ(latest().key.trial, 3);
  ASSERT_TRUE(latest().forked_modules);
  EXPECT_THAT(*latest().forked_modules, ElementsAre("numpy", "PIL.Image"));
}

TEST_F(ForkedRunnerTest, DifferentLossesEndForking) {
  run_reference();
  ASSERT_TRUE(runner_->start(trial(2)));
  static_cast<void>(ended());
  inner_->report_losses(latest().key, "2.26");
  static_cast<void>(ended());
  static_cast<void>(ended());
  ASSERT_EQ(latest().key.trial, 2);
  EXPECT_FALSE(latest().forked_modules);
  inner_->end(latest().key, OutcomeKind::completed);
  EXPECT_THAT(ended(), ElementsAre(2));
  ASSERT_TRUE(runner_->start(trial(3)));
  EXPECT_EQ(latest().key.trial, 3);
  EXPECT_FALSE(latest().forked_modules);
}

TEST_F(ForkedRunnerTest, DoesNotForkIfTheCheckReportsNoLoss) {
  // The check is not forked, or ends before its loss.
  for (const bool can_fork : {false, true}) {
    begin();
    inner_->can_fork = can_fork;
    run_reference();
    ASSERT_TRUE(runner_->start(trial(2)));
    static_cast<void>(ended());
    if (can_fork) inner_->end(latest().key, OutcomeKind::timed_out);
    static_cast<void>(ended());
    ASSERT_EQ(latest().key.trial, 2) << can_fork;
    EXPECT_FALSE(latest().forked_modules);
  }
}

TEST_F(ForkedRunnerTest, TheFirstTrialWithLossesIsRepeatedByTheCheck) {
  ASSERT_TRUE(runner_->start(trial(1)));
  inner_->end(latest().key, OutcomeKind::failed);
  EXPECT_THAT(ended(), ElementsAre(1));
  ASSERT_TRUE(runner_->start(trial(2)));
  EXPECT_EQ(latest().key.trial, 2);
  EXPECT_FALSE(latest().forked_modules);
  inner_->report_losses(latest().key, "2.25");
  inner_->end(latest().key, OutcomeKind::completed);
  EXPECT_THAT(ended(), ElementsAre(2));
  ASSERT_TRUE(runner_->start(trial(3)));
  EXPECT_LT(latest().key.trial, 0);
  EXPECT_EQ(latest().environment.at("NUMBER"), "2");
}

TEST_F(ForkedRunnerTest, DoesNotForkIfStepsAreLong) {
  ASSERT_TRUE(runner_->start(trial(1)));
  inner_->tell(latest().key, R"({"event":"program"})");
  // The program began after 5 s. Its losses come more than six times as late.
  inner_->now_s = 31.0;
  inner_->report_losses(latest().key, "2.25");
  inner_->end(latest().key, OutcomeKind::completed);
  EXPECT_THAT(ended(), ElementsAre(1));
  ASSERT_TRUE(runner_->start(trial(2)));
  EXPECT_EQ(latest().key.trial, 2);
  EXPECT_FALSE(latest().forked_modules);
}

TEST_F(ForkedRunnerTest, DoesNotForkIfLossesAreUnknown) {
  ASSERT_TRUE(runner_->start(trial(1)));
  inner_->report_losses(latest().key, "None");
  inner_->end(latest().key, OutcomeKind::completed);
  EXPECT_THAT(ended(), ElementsAre(1));
  ASSERT_TRUE(runner_->start(trial(2)));
  EXPECT_EQ(latest().key.trial, 2);
  EXPECT_FALSE(latest().forked_modules);
}

TEST_F(ForkedRunnerTest, TrialsThatTakeTurnsStartInNewProcessesWithoutACheck) {
  run_reference();
  for (const std::int64_t number : {2, 3}) {
    TrialSpec spec = trial(number);
    spec.interleaved_round = 2;
    ASSERT_TRUE(runner_->start(spec)) << "trial " << number;
    EXPECT_EQ(latest().key.trial, number);
    EXPECT_FALSE(latest().forked_modules);
    inner_->end(latest().key, OutcomeKind::completed);
    EXPECT_THAT(ended(), ElementsAre(number));
  }
}

TEST_F(ForkedRunnerTest, ConfirmingTrialsAreNotForked) {
  run_reference();
  ASSERT_TRUE(runner_->start(trial(2, false)));
  EXPECT_EQ(latest().key.trial, 2);
  EXPECT_FALSE(latest().forked_modules);
}

TEST_F(ForkedRunnerTest, ATrialThatWaitsForTheCheckCanBeStopped) {
  for (const bool all : {false, true}) {
    begin();
    run_reference();
    ASSERT_TRUE(runner_->start(trial(2)));
    const auto twice = runner_->start(trial(2));
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().kind, ErrorKind::conflict);
    if (all) {
      runner_->kill_all();
    } else {
      runner_->stop({2, 1});
    }
    EXPECT_THAT(ended(), ElementsAre(2));
    EXPECT_EQ(outcomes_.back().kind, OutcomeKind::stopped);
    // The next trial needs a new check.
    ASSERT_TRUE(runner_->start(trial(3)));
    EXPECT_LT(latest().key.trial, 0);
  }
}

TEST_F(ForkedRunnerTest, AFailedStartAfterTheCheckFreesItsPlace) {
  for (const char* loss : {"2.25", "2.26"}) {
    begin();
    run_reference();
    ASSERT_TRUE(runner_->start(trial(2)));
    static_cast<void>(ended());
    inner_->report_losses(latest().key, loss);
    inner_->refuses = true;
    EXPECT_THAT(ended(), IsEmpty());  // the check is asked to end
    EXPECT_THAT(ended(), ElementsAre(2)) << loss;
    EXPECT_EQ(outcomes_.back().kind, OutcomeKind::not_started);
    EXPECT_THAT(outcomes_.back().detail, HasSubstr("cannot start a process"));
    inner_->refuses = false;
    ASSERT_TRUE(runner_->start(trial(3)));
    EXPECT_EQ(latest().key.trial, 3);
  }
}

}  // namespace
}  // namespace steptune
