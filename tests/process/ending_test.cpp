// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <variant>

#include <gmock/gmock.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using EndingTest = LocalRunnerTest;

/// True if a trial has finished. Ignores skipped time, which is reported as a pause of the machine.
bool any_finished(const std::vector<TrialEvent>& events) {
  return std::ranges::any_of(
      events, [](const TrialEvent& event) { return std::holds_alternative<TrialFinished>(event); });
}

TEST_F(EndingTest, AFailureReportsItsExitStatusAndLastLines) {
  const TrialRun done = run(shell("echo before; echo 'the reason' >&2; exit 3"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::failed);
  EXPECT_EQ(done.outcome().exit_code, 3);
  EXPECT_EQ(done.outcome().detail, "exit status 3\nbefore\nthe reason");
}

TEST_F(EndingTest, ASignalThatTheTrialSendsItselfIsAFailure) {
  const TrialRun done = run(shell("kill -SEGV $$"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::failed);
  EXPECT_EQ(done.outcome().exit_code, 128 + SIGSEGV);
  EXPECT_THAT(done.outcome().detail, HasSubstr("SIGSEGV"));
}

TEST_F(EndingTest, StopGivesTheTrialTimeToEndInOrder) {
  const TrialSpec spec =
      shell("trap 'echo in order; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  start(spec);
  wait_for_output(spec, "ready");
  runner().stop(spec.key);
  const TrialRun done = wait_for_end();
  EXPECT_EQ(done.outcome().kind, OutcomeKind::stopped);
  EXPECT_THAT(log_of(spec), HasSubstr("in order"));
}

TEST_F(EndingTest, ATrialThatIgnoresTheRequestIsKilledAfterItsGrace) {
  TrialSpec spec = fake({"ignore-term"});
  spec.limits.grace_s = 1000.0;
  start(spec);
  wait_for_output(spec, "ready");
  runner().stop(spec.key);
  const auto within_grace = runner().wait(clock_.now_s() + 0.05);
  ASSERT_TRUE(within_grace);
  EXPECT_THAT(*within_grace, IsEmpty());
  clock_.skip(1000.0);
  const TrialRun done = wait_for_end();
  EXPECT_EQ(done.outcome().kind, OutcomeKind::stopped);
  EXPECT_EQ(done.outcome().exit_code, 128 + SIGKILL);
}

TEST_F(EndingTest, KillAllCutsARunningGraceShort) {
  TrialSpec spec = fake({"ignore-term"});
  spec.limits.grace_s = 1000.0;
  start(spec);
  wait_for_output(spec, "ready");
  runner().stop(spec.key);
  runner().kill_all();
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::stopped);
}

TEST_F(EndingTest, AStopReachesASuspendedTrial) {
  const TrialSpec spec = shell("echo ready; kill -STOP $$; sleep 1000");
  start(spec);
  wait_for_output(spec, "ready");
  runner().stop(spec.key);
  EXPECT_EQ(wait_for_end().outcome().exit_code, 128 + SIGTERM);
}

TEST_F(EndingTest, AStopThatComesAfterTheEndLeavesTheOutcomeAlone) {
  const TrialSpec spec = shell("exit 0");
  start(spec);
  ASSERT_TRUE(eventually([] {
    const auto children = own_children();
    return children.size() == 1 && !is_alive(children.front());
  }));
  runner().stop(spec.key);
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::completed);
}

TEST_F(EndingTest, NoProcessSurvivesATrialThatEnds) {
  for (const char* how : {"exit", "crash"}) {
    const TrialSpec spec = fake({"brood", how});
    const TrialRun done = run(spec);
    const std::vector<pid_t> pids = pids_in(log_of(spec));
    EXPECT_THAT(pids, SizeIs(5)) << log_of(spec);
    EXPECT_THAT(alive(pids), IsEmpty()) << how;
    EXPECT_THAT(own_children(), IsEmpty()) << how;
    EXPECT_EQ(done.outcome().kind,
              how == std::string("exit") ? OutcomeKind::completed : OutcomeKind::failed);
  }
}

TEST_F(EndingTest, NoProcessSurvivesAStoppedTrial) {
  const TrialSpec spec = fake({"brood", "stay"});
  start(spec);
  wait_for_output(spec, "ready");
  runner().stop(spec.key);
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::stopped);
  EXPECT_THAT(pids_in(log_of(spec)), SizeIs(5));
  EXPECT_THAT(alive(pids_in(log_of(spec))), IsEmpty());
  EXPECT_THAT(own_children(), IsEmpty());
}

TEST_F(EndingTest, NoProcessSurvivesATrialInTheTunersGroup) {
  const TrialSpec stopped = fake({"leave-group", "stay"});
  start(stopped);
  wait_for_output(stopped, "ready");
  runner().stop(stopped.key);
  EXPECT_EQ(wait_for_end().outcome().exit_code, 128 + SIGTERM);
  EXPECT_THAT(pids_in(log_of(stopped)), SizeIs(2));
  EXPECT_THAT(alive(pids_in(log_of(stopped))), IsEmpty());
  const TrialSpec ended = fake({"leave-group", "exit"});
  EXPECT_EQ(run(ended).outcome().kind, OutcomeKind::completed);
  EXPECT_THAT(pids_in(log_of(ended)), SizeIs(2));
  EXPECT_THAT(alive(pids_in(log_of(ended))), IsEmpty());
  EXPECT_THAT(own_children(), IsEmpty());
}

TEST_F(EndingTest, NoProcessSurvivesTheRunner) {
  const TrialSpec spec = fake({"brood", "stay"});
  start(spec);
  wait_for_output(spec, "ready");
  drop_runner();
  EXPECT_THAT(pids_in(log_of(spec)), SizeIs(5));
  EXPECT_THAT(alive(pids_in(log_of(spec))), IsEmpty());
}

TEST_F(EndingTest, TheEndOfOneTrialLeavesAnothersDaemonsAlone) {
  LocalRunnerOptions options = unpinned();
  options.parallel = 2;
  use(options);
  const TrialSpec staying = fake({"marked-brood", "stay"});
  start(staying);
  wait_for_output(staying, "ready");
  TrialSpec other = fake({"marked-brood", "exit"});
  other.key = {2, 1};
  other.log_path = folder() / "other.log";
  const TrialRun done = run(other);
  EXPECT_EQ(done.finished.at(0).key, other.key);
  EXPECT_THAT(pids_in(log_of(other)), SizeIs(4));
  EXPECT_THAT(alive(pids_in(log_of(other))), IsEmpty());
  EXPECT_THAT(alive(pids_in(log_of(staying))), SizeIs(4));
  runner().kill_all();
  wait_for_end();
  EXPECT_THAT(alive(pids_in(log_of(staying))), IsEmpty());
}

TEST_F(EndingTest, ABackgroundChildDoesNotDelayTheEnd) {
  const TrialRun done = run(shell("sleep 1000 & echo pid $!; exit 0"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed);
  EXPECT_LT(done.outcome().duration_s, 500.0);
  EXPECT_THAT(own_children(), IsEmpty());
}

TEST_F(EndingTest, DeadDaemonsDoNotPileUpAsZombies) {
  // Orphans that end before the trial become children of the tuner.
  const TrialRun done =
      run(shell("for i in 1 2 3 4 5 6 7 8; do (setsid true &) ; done; sleep 0.1"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed);
  EXPECT_THAT(own_children(), IsEmpty());
}

TEST_F(EndingTest, ATrialBeyondItsWallLimitTimesOut) {
  TrialSpec spec = shell("echo ready; while :; do echo busy; sleep 0.01; done");
  spec.limits.wall_s = 100.0;
  start(spec);
  wait_for_output(spec, "ready");
  clock_.skip(101.0);
  const TrialRun done = wait_for_end();
  EXPECT_EQ(done.outcome().kind, OutcomeKind::timed_out);
  EXPECT_THAT(done.outcome().detail, HasSubstr("wall limit of"));
}

TEST_F(EndingTest, IdleLimitCountsFromTheLastOutput) {
  TrialSpec spec = shell("echo ready; read line < go; echo again; exec sleep 1000");
  spec.working_directory = folder();
  spec.limits.idle_s = 100.0;
  ASSERT_EQ(std::system(("mkfifo " + (folder() / "go").string()).c_str()), 0);
  start(spec);
  wait_for_output(spec, "ready");
  clock_.skip(60.0);
  ASSERT_EQ(std::system(("echo > " + (folder() / "go").string()).c_str()), 0);
  wait_for_output(spec, "again");
  clock_.skip(60.0);
  const auto early = runner().wait(clock_.now_s() + 0.05);
  ASSERT_TRUE(early);
  EXPECT_FALSE(any_finished(*early)) << "60 s after the last line is within the limit";
  clock_.skip(60.0);
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::hung);
}

TEST_F(EndingTest, APhaseUnderWayMayBeSilentForLonger) {
  TrialSpec spec =
      shell(R"(echo '[steptune] {"v":1,"phase":"evaluation"}'; echo ready; read line < go; )"
            R"(echo '[steptune] {"v":1,"phase":"evaluation","seconds":150}'; exec sleep 1000)");
  spec.working_directory = folder();
  spec.limits.idle_s = 100.0;
  ASSERT_EQ(std::system(("mkfifo " + (folder() / "go").string()).c_str()), 0);
  start(spec);
  wait_for_output(spec, "ready");
  clock_.skip(150.0);
  const auto silent = runner().wait(clock_.now_s() + 0.05);
  ASSERT_TRUE(silent);
  EXPECT_FALSE(any_finished(*silent)) << "the evaluation has begun and not ended";
  ASSERT_EQ(std::system(("echo > " + (folder() / "go").string()).c_str()), 0);
  wait_for_output(spec, "seconds");
  clock_.skip(101.0);
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::hung);
}

TEST_F(EndingTest, OutputThatWaitsInThePipeCountsBeforeTheIdleLimit) {
  TrialSpec spec = shell("sleep 0.05; echo there; exec sleep 1000");
  spec.limits.idle_s = 100.0;
  start(spec);
  // The user stops the tuner for a while, and the limit passes meanwhile.
  ASSERT_TRUE(eventually([&] {
    const auto children = own_children();
    return children.size() == 1 &&
           read_file("/proc/" + std::to_string(children.front()) + "/comm") == "sleep\n";
  }));
  clock_.skip(101.0);
  wait_for_output(spec, "there");
  runner().kill_all();
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::stopped);
}

}  // namespace
}  // namespace steptune::process_tests
