// SPDX-License-Identifier: Apache-2.0
//
// Tests a trial as a step: its start, its reports, its limits, its end, and the resulting outcome.
#include "trial_runner/slurm/step_trial.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A step's output and end, as the test sets them.
struct StepTape {
  std::vector<OutputChunk> chunks;
  std::optional<StepEnd> end;
  int kills = 0;
  int forgotten = 0;
};

class TapedStep final : public Step {
 public:
  explicit TapedStep(std::shared_ptr<StepTape> tape) : tape_(std::move(tape)) {}
  std::vector<OutputChunk> read() override { return std::exchange(tape_->chunks, {}); }
  std::optional<StepEnd> end() override { return tape_->end; }
  void kill() override { ++tape_->kills; }
  void forget() override { ++tape_->forgotten; }

 private:
  std::shared_ptr<StepTape> tape_;
};

class StepTrialTest : public testing::Test {
 protected:
  StepTrialTest() {
    spec_.key = {7, 2};
    spec_.limits.wall_s = 600.0;
    spec_.limits.idle_s = 90.0;
  }

  StepTrial& trial() {
    if (!trial_) {
      auto created = StepTrial::create(spec_, {});
      EXPECT_TRUE(created) << created.error().text();
      trial_ = std::make_unique<StepTrial>(*std::move(created));
    }
    return *trial_;
  }
  void launch(double at_s = 10.0, int tasks = 1, int held_nodes = 1) {
    tape_ = std::make_shared<StepTape>();
    trial().launch({{"t7-a2-l1-ab", "allocation", "100", "w", tasks, {}}, held_nodes, at_s, 0.0},
                   std::make_unique<TapedStep>(tape_));
  }
  std::vector<TrialEvent> read(double now_s) {
    std::vector<TrialEvent> events;
    trial().read(now_s, events);
    return events;
  }
  std::vector<TrialEvent> prints(double time_s, const std::string& bytes) {
    tape_->chunks.push_back({time_s, bytes});
    return read(time_s);
  }
  static std::string start_mark(int task = 0, const std::string& host = "n1") {
    return fmt::format("\x1esteptune w start {} {} 100.4 ;\n", task, host);
  }
  static std::string exit_mark(int task, int status) {
    return fmt::format("\x1esteptune w exit {} {} ;\n", task, status);
  }
  static std::string report(double samples) {
    return fmt::format("[steptune] {{\"v\":1,\"samples\":{}}}\n", samples);
  }

  TrialSpec spec_;
  std::shared_ptr<StepTape> tape_;

 private:
  std::unique_ptr<StepTrial> trial_;
};

TEST_F(StepTrialTest, StartsOnceAllItsTasksHave) {
  EXPECT_TRUE(trial().waits());
  launch(10.0, 2);
  EXPECT_FALSE(trial().waits());
  EXPECT_THAT(prints(11.0, start_mark(0)), IsEmpty());
  EXPECT_FALSE(trial().has_started());
  const auto events = prints(12.0, start_mark(1, "n2"));
  ASSERT_EQ(events.size(), 1U);
  const auto& started = std::get<TrialStarted>(events[0]);
  EXPECT_EQ(started.key, (TrialKey{7, 2}));
  EXPECT_EQ(started.time_s, 12.0);
  EXPECT_EQ(started.token, "t7-a2-l1-ab");
  EXPECT_EQ(started.placement.at("hosts"), "n1 n2");
  EXPECT_EQ(started.placement.at("step"), "100.4");
  EXPECT_EQ(started.placement.at("allocation"), "allocation");
  EXPECT_FALSE(started.placement.contains("cpu")) << "it was not reported";
  EXPECT_EQ(trial().started_s(), 12.0);
}

TEST_F(StepTrialTest, EarlyReportsFollowTheLastStart) {
  launch(10.0, 2);
  EXPECT_THAT(prints(11.0, start_mark(0) + report(10.0)), IsEmpty());
  const auto events = prints(15.0, start_mark(1));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<TrialStarted>(events[0]));
  const auto& reported = std::get<TrialReported>(events[1]);
  EXPECT_EQ(reported.report.samples, 10.0);
  EXPECT_EQ(reported.report.received_s, 15.0) << "never before its start";
}

TEST_F(StepTrialTest, ItsLimitsBeginWithItsStart) {
  launch();
  EXPECT_TRUE(std::isinf(trial().next_limit().first));
  (void)prints(20.0, start_mark());
  EXPECT_EQ(trial().next_limit(), std::pair(110.0, StopCause::no_output));
  (void)prints(100.0, "still there\n");
  EXPECT_EQ(trial().next_limit(), std::pair(190.0, StopCause::no_output));
  (void)prints(560.0, "still there\n");
  EXPECT_EQ(trial().next_limit(), std::pair(620.0, StopCause::wall_limit));
  tape_->end = StepEnd{0, ""};
  (void)read(600.0);
  EXPECT_TRUE(std::isinf(trial().next_limit().first)) << "it has ended";
}

TEST_F(StepTrialTest, APhaseMayBeSilentForLonger) {
  launch();
  (void)prints(20.0, start_mark() + report(10.0));
  (void)prints(30.0, "[steptune] {\"v\":1,\"phase\":\"evaluation\"}\n");
  EXPECT_EQ(trial().next_limit(), std::pair(620.0, StopCause::wall_limit));
}

TEST_F(StepTrialTest, TheFirstCauseOfItsEndCounts) {
  EXPECT_FALSE(trial().cause());
  trial().set_cause(StopCause::caller, 40.0);
  trial().set_cause(StopCause::wall_limit, 50.0);
  EXPECT_EQ(trial().cause(), StopCause::caller);
  EXPECT_EQ(trial().asked_s(), 40.0);
}

TEST_F(StepTrialTest, TheLastLineNeedsNoNewline) {
  launch();
  (void)prints(20.0, start_mark());
  tape_->end = StepEnd{3, ""};
  EXPECT_THAT(prints(30.0, "ValueError: no" + std::string("thing")), IsEmpty());
  EXPECT_EQ(trial().step_ended_s(), 30.0);
  const StepEvidence evidence = trial().evidence();
  EXPECT_THAT(evidence.tail, ElementsAre("ValueError: nothing"));
  EXPECT_EQ(evidence.srun_status, 3);
  tape_->chunks.push_back({31.0, "too late\n"});
  EXPECT_THAT(read(31.0), IsEmpty()) << "all was read";
}

TEST_F(StepTrialTest, ADrawingOfAProgressBarHasTheTimeAtWhichItCame) {
  launch();
  (void)prints(20.0, start_mark());
  const auto received_s = [](const std::vector<TrialEvent>& events) {
    return std::get<TrialReported>(events.at(0)).report.received_s;
  };
  EXPECT_THAT(prints(30.0, "\r[steptune] {\"v\":1,\"samples\":10}"), IsEmpty());
  EXPECT_EQ(received_s(prints(50.0, "\r[steptune] {\"v\":1,\"samples\":20}")), 30.0);
  tape_->end = StepEnd{0, ""};
  EXPECT_EQ(received_s(read(5000.0)), 50.0) << "no tuner ran at its end";
}

TEST_F(StepTrialTest, MessagesOfSlurmAreEvidence) {
  launch();
  (void)prints(20.0, start_mark());
  EXPECT_FALSE(trial().evidence().memory_kill);
  (void)prints(21.0, "slurmstepd: error: Detected 1 oom_kill event in StepId=100.4.\n");
  EXPECT_TRUE(trial().evidence().memory_kill);
  EXPECT_FALSE(trial().evidence().cancelled);
  (void)prints(22.0, "slurmstepd: error: *** STEP 100.4 ON n1 CANCELLED AT 2026-11-26 ***\n");
  EXPECT_TRUE(trial().evidence().cancelled);
  EXPECT_FALSE(trial().evidence().node_lost);
  (void)prints(23.0, "srun: error: Node failure on n2\n");
  EXPECT_TRUE(trial().evidence().node_lost);
  EXPECT_THAT(trial().lost_nodes(), ElementsAre("n2"));
}

TEST_F(StepTrialTest, ANodeThatIsLostBeforeTheStartIsKnownToo) {
  launch(10.0, 2);
  (void)prints(20.0, "srun: error: Node failure on n2\n");
  EXPECT_THAT(trial().lost_nodes(), ElementsAre("n2"));
  trial().wait_again(30.0, true);
  launch(40.0, 2);
  EXPECT_THAT(trial().lost_nodes(), IsEmpty()) << "of this launch";
}

TEST_F(StepTrialTest, AFailedLaunchIsCountedAndItsStateReset) {
  EXPECT_EQ(trial().next_launch(), 1);
  launch();
  EXPECT_EQ(trial().next_launch(), 2);
  trial().set_late();
  trial().kill();
  EXPECT_EQ(tape_->kills, 1);
  EXPECT_TRUE(trial().was_killed());
  trial().wait_again(50.0, /*failed=*/true);
  EXPECT_EQ(tape_->forgotten, 1);
  EXPECT_TRUE(trial().waits());
  EXPECT_EQ(trial().waits_since_s(), 50.0);
  EXPECT_EQ(trial().failed_launches(), 1);
  EXPECT_EQ(trial().blocked_launches(), 0);
  EXPECT_FALSE(trial().is_late());
  EXPECT_FALSE(trial().was_killed());
}

TEST_F(StepTrialTest, WaitingTrialsArePolledLessAndLess) {
  launch(100.0);
  EXPECT_EQ(trial().next_step_poll_s(), 105.0);
  for (const double later_s : {10.0, 20.0}) {
    trial().give_up_launch();
    EXPECT_TRUE(trial().launch_given_up());
    trial().wait_again(100.0, /*failed=*/false);
    EXPECT_FALSE(trial().launch_given_up());
    launch(100.0);
    EXPECT_EQ(trial().next_step_poll_s(), 100.0 + later_s);
  }
  EXPECT_EQ(trial().blocked_launches(), 2);
  EXPECT_EQ(trial().failed_launches(), 0);
}

TEST_F(StepTrialTest, OutputOfAnEarlierLaunchIsNoEvidence) {
  launch();
  tape_->end = StepEnd{1, ""};
  (void)prints(20.0, "srun: error: Cannot allocate memory\nhalf a line");
  EXPECT_THAT(trial().evidence().tail, ElementsAre(HasSubstr("Cannot allocate"), "half a line"))
      << "why the launch has failed";
  EXPECT_TRUE(trial().evidence().says_memory_out);
  trial().wait_again(30.0, true);
  launch(40.0);
  (void)prints(41.0, start_mark() + "ValueError: batch_size\n" + exit_mark(0, 1));
  EXPECT_FALSE(trial().evidence().says_memory_out);
  EXPECT_THAT(trial().evidence().tail, ElementsAre("ValueError: batch_size"));
}

TEST_F(StepTrialTest, AnUnfinishedLineDoesNotReachTheNextLaunch) {
  launch();
  (void)prints(20.0, "srun: waits for ");
  trial().give_up_launch();
  trial().wait_again(30.0, false);
  launch(40.0);
  (void)prints(41.0, start_mark() + "hello\n");
  EXPECT_THAT(trial().evidence().tail, ElementsAre("hello"));
}

TEST_F(StepTrialTest, AFailureBeforeAllTasksStartIsPrecededByAStart) {
  launch(10.0, 2);
  tape_->end = StepEnd{1, ""};
  const auto events = prints(20.0, start_mark(0) + "no GPU\n" + exit_mark(0, 1));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<TrialStarted>(events[0]));
  EXPECT_THAT(trial().evidence().tail, ElementsAre("no GPU"));
}

TEST_F(StepTrialTest, IsKnownUntilItsLatestOutputWhileOutputArrives) {
  launch();
  (void)prints(20.0, start_mark());
  tape_->chunks.push_back({50.0, "long ago\n"});
  (void)read(500.0);
  EXPECT_EQ(trial().known_until_s(), 50.0);
  (void)read(500.0);
  EXPECT_EQ(trial().known_until_s(), 500.0) << "nothing more was printed";
}

TEST_F(StepTrialTest, TheTimeFromAnEndUntilItIsSeenIsNotBilled) {
  launch();
  (void)prints(20.0, start_mark());
  tape_->end = StepEnd{0, "", 80.0};
  (void)read(5000.0);
  EXPECT_EQ(trial().finish(5000.0, {}, 36.0).outcome.billed_s, 60.0);
}

TEST_F(StepTrialTest, PaysForAllNodesThatAreHeldFromItsStartToItsSteps) {
  launch(10.0, 1, 4);
  (void)prints(20.0, start_mark());
  tape_->end = StepEnd{0, ""};
  (void)read(120.0);
  const TrialFinished finished = trial().finish(150.0, {}, 36.0);
  EXPECT_EQ(finished.time_s, 150.0);
  EXPECT_EQ(finished.outcome.duration_s, 100.0);
  EXPECT_EQ(finished.outcome.billed_s, 100.0);
  EXPECT_NEAR(finished.outcome.billed_usd.value(), 4 * 36.0 * 100.0 / 3600.0, 1e-9);
}

TEST_F(StepTrialTest, ATrialThatNeverStartedPaysNothing) {
  launch();
  EXPECT_EQ(trial().finish(50.0, {}, 36.0).outcome.billed_usd, 0.0);
  EXPECT_EQ(trial().finish(50.0, {}, std::nullopt).outcome.billed_usd, std::nullopt)
      << "nothing is known of prices";
}

TEST_F(StepTrialTest, ItsLogHasNoMarks) {
  const TemporaryFolder folder("step-trial");
  spec_.log_path = folder.path() / "log";
  launch();
  (void)prints(20.0, start_mark() + "hello\n" + exit_mark(0, 0));
  (void)trial().finish(30.0, {}, std::nullopt);
  EXPECT_EQ(read_file(spec_.log_path), "hello\n");
}

TEST_F(StepTrialTest, SaysWhichOfItsLinesWereRefused) {
  launch();
  (void)prints(20.0, start_mark() + "[steptune] {\"v\":2}\n" + exit_mark(0, 0));
  EXPECT_THAT(trial().finish(30.0, {}, std::nullopt).outcome.detail,
              HasSubstr("the first: \"v\" is 2"));
}

TEST_F(StepTrialTest, ALogThatCannotBeWrittenIsAnErrorBeforeItWaits) {
  spec_.log_path = "/no/such/folder/log";
  const auto created = StepTrial::create(spec_, {});
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().text(), HasSubstr("/no/such/folder/log"));
}

}  // namespace
}  // namespace steptune::slurm
