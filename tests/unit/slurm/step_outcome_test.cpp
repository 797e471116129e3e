// SPDX-License-Identifier: Apache-2.0
// Tests how a trial's end is judged from its step's marks, Slurm's messages and the state of its
// allocation.
#include "trial_runner/slurm/step_outcome.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/outcome_text.hpp"

namespace steptune::slurm {
namespace {

using ::testing::HasSubstr;

StepMarks marks_of(int tasks, int started, const std::vector<std::string>& exits) {
  StepMarks marks("w", tasks);
  std::string text;
  for (int task = 0; task < started; ++task)
    text += fmt::format("\x1esteptune w start {} n 1.0 ;\n", task);
  for (const std::string& exit : exits)
    text += fmt::format("\x1esteptune w exit {} ;\n", exit);
  marks.feed(text, [](std::string_view) {});
  return marks;
}

struct End {
  const char* what;
  int tasks;
  std::vector<std::string> exits;
  std::optional<std::string> state;
  bool memory_kill = false;
  bool cancelled = false;
  bool node_lost = false;
  OutcomeKind kind = OutcomeKind::lost;
  const char* detail = "";
  bool says_memory_out = false;
};

TEST(StepOutcome, IsLostOnlyIfTheProgramDidNotEndItself) {
  const std::vector<End> ends = {
      {"success", 2, {"0 0", "1 0"}, "RUNNING", false, false, false, OutcomeKind::completed},
      {"success as the allocation ends",
       1,
       {"0 0"},
       "TIMEOUT",
       false,
       false,
       false,
       OutcomeKind::completed},
      {"its own failure",
       1,
       {"0 3"},
       "RUNNING",
       false,
       false,
       false,
       OutcomeKind::failed,
       "status 3"},
      {"its own SIGKILL", 1, {"0 137"}, "RUNNING", false, false, false, OutcomeKind::failed},
      {"one task's failure, the others killed for it",
       3,
       {"1 5"},
       "RUNNING",
       false,
       true,
       false,
       OutcomeKind::failed,
       "status 5"},
      {"preempted at once",
       1,
       {},
       "PREEMPTED",
       false,
       false,
       false,
       OutcomeKind::lost,
       "preempted"},
      {"preempted with a grace time, ended by the signal",
       1,
       {"0 143 sigterm"},
       "RUNNING",
       false,
       false,
       false,
       OutcomeKind::lost,
       "preemption with a grace time"},
      {"preempted with a grace time, its own status", 1, {"0 1 sigterm"}, "RUNNING"},
      {"preempted with a grace time, state saved", 1, {"0 0 sigterm"}, "RUNNING"},
      {"preempted with a grace time, and Slurm says so",
       1,
       {"0 1 sigterm"},
       "PREEMPTED",
       false,
       false,
       false,
       OutcomeKind::lost,
       "preempted by a job of higher priority"},
      {"preempted, then the other task fails", 2, {"0 143 sigterm", "1 1"}, "RUNNING"},
      {"the allocation's time limit",
       1,
       {"0 143 sigterm"},
       "TIMEOUT",
       false,
       false,
       false,
       OutcomeKind::lost,
       "time limit"},
      {"a node fails, then the task on the other node fails",
       2,
       {"0 1"},
       "NODE_FAIL",
       false,
       false,
       false,
       OutcomeKind::lost,
       "node that failed"},
      {"a node fails, and the controller does not know yet",
       2,
       {"0 1"},
       "RUNNING",
       false,
       false,
       true,
       OutcomeKind::lost,
       "with a node"},
      {"requeued by an administrator",
       1,
       {"0 143"},
       "PENDING",
       false,
       false,
       false,
       OutcomeKind::lost,
       "back in the queue"},
      {"requeued and held", 1, {}, "REQUEUE_HOLD"},
      {"suspended", 1, {}, "SUSPENDED", false, false, false, OutcomeKind::lost, "suspended"},
      {"cancelled by someone else",
       1,
       {"0 137"},
       "CANCELLED by 1000",
       false,
       false,
       false,
       OutcomeKind::lost,
       "cancelled by someone else"},
      {"its step cancelled by someone else", 1, {"0 137"}, "RUNNING", false, true},
      {"forgotten by the controller",
       1,
       {},
       "GONE",
       false,
       false,
       false,
       OutcomeKind::lost,
       "no longer known"},
      {"killed while the controller is away", 1, {"0 137"}, std::nullopt},
      {"failed while the controller is away",
       1,
       {"0 3"},
       std::nullopt,
       false,
       false,
       false,
       OutcomeKind::failed},
      {"out of memory by its cgroup",
       1,
       {"0 137"},
       "RUNNING",
       true,
       false,
       false,
       OutcomeKind::out_of_memory},
      {"out of memory by accounting, which ends the job",
       1,
       {"0 137"},
       "FAILED",
       true,
       true,
       false,
       OutcomeKind::out_of_memory},
      {"out of memory, the shell killed too",
       1,
       {},
       "OUT_OF_MEMORY",
       false,
       false,
       false,
       OutcomeKind::out_of_memory},
      {"out of memory, as its last lines say",
       1,
       {"0 1"},
       "RUNNING",
       false,
       false,
       false,
       OutcomeKind::out_of_memory,
       "status 1",
       true},
      {"its lines say out of memory, but it was ended from outside",
       1,
       {"0 1 sigterm"},
       "PREEMPTED",
       false,
       false,
       false,
       OutcomeKind::lost,
       "preempted",
       true},
      {"success, although lines and state say out of memory",
       1,
       {"0 0"},
       "OUT_OF_MEMORY",
       true,
       false,
       false,
       OutcomeKind::completed,
       "",
       true}};
  for (const End& end : ends) {
    SCOPED_TRACE(end.what);
    StepEvidence evidence;
    evidence.srun_status = 1;
    evidence.allocation_state = end.state;
    evidence.memory_kill = end.memory_kill;
    evidence.says_memory_out = end.says_memory_out;
    evidence.cancelled = end.cancelled;
    evidence.node_lost = end.node_lost;
    std::string why;
    const auto outcome =
        step_outcome(marks_of(end.tasks, end.tasks, end.exits), evidence, {}, end.tasks, why);
    ASSERT_TRUE(outcome) << why;
    EXPECT_EQ(to_text(outcome->kind), to_text(end.kind)) << outcome->detail;
    EXPECT_THAT(outcome->detail, HasSubstr(end.detail));
  }
}

TEST(StepOutcome, IsLostIfTheOutputWasNotKept) {
  StepEvidence evidence;
  evidence.srun_status = 0;
  evidence.fault = "its output could not be kept: No space left on device";
  evidence.allocation_state = "RUNNING";
  std::string why;
  const auto outcome = step_outcome(marks_of(1, 1, {}), evidence, {}, 1, why);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(to_text(outcome->kind), "lost");
  EXPECT_EQ(outcome->detail,
            "how it ended is not known; its output could not be kept: No space left on device");
}

TEST(StepOutcome, IsAFailedLaunchIfATaskDidNotStart) {
  StepEvidence evidence;
  evidence.srun_status = 0;
  evidence.allocation_state = "RUNNING";
  std::string why;
  EXPECT_FALSE(step_outcome(marks_of(1, 0, {}), evidence, {}, 1, why)) << "srun returned 0";
  EXPECT_THAT(why, HasSubstr("did not start"));
  EXPECT_FALSE(step_outcome(marks_of(2, 1, {"0 143 sigterm"}), evidence, {}, 2, why));
  EXPECT_THAT(why, HasSubstr("only 1 of 2"));
  const auto failed = step_outcome(marks_of(2, 1, {"0 127"}), evidence, {}, 2, why);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, OutcomeKind::not_started) << "one task found no program";
}

TEST(StepOutcome, IsAFailedLaunchIfItsPortWasTaken) {
  StepEvidence evidence;
  evidence.srun_status = 1;
  evidence.allocation_state = "RUNNING";
  evidence.port_taken = true;
  evidence.tail = {"RuntimeError: errno: 98 - Address already in use"};
  std::string why;
  EXPECT_FALSE(step_outcome(marks_of(2, 2, {"0 1"}), evidence, {}, 2, why));
  EXPECT_THAT(why, HasSubstr("port at which its tasks were to meet is in use"));
  EXPECT_THAT(why, HasSubstr("errno: 98"));
  const auto succeeded = step_outcome(marks_of(2, 2, {"0 0", "1 0"}), evidence, {}, 2, why);
  ASSERT_TRUE(succeeded);
  EXPECT_EQ(succeeded->kind, OutcomeKind::completed) << "the ranks met at another port";
  const auto missing = step_outcome(marks_of(2, 2, {"0 127"}), evidence, {}, 2, why);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->kind, OutcomeKind::not_started);
}

TEST(StepOutcome, IsHungIfRanksWaitedForEachOther) {
  StepEvidence evidence;
  evidence.srun_status = 1;
  evidence.allocation_state = "RUNNING";
  evidence.says_ranks_waited = true;
  std::string why;
  const auto hung = step_outcome(marks_of(2, 2, {"0 134", "1 134"}), evidence, {}, 2, why);
  ASSERT_TRUE(hung);
  EXPECT_EQ(to_text(hung->kind), "hung");
  EXPECT_THAT(hung->detail, HasSubstr("exit status 134; its output reports that ranks waited"));
  evidence.port_taken = true;
  EXPECT_FALSE(step_outcome(marks_of(2, 2, {"0 1", "1 1"}), evidence, {}, 2, why))
      << "the other rank waited in vain at the port, so the launch is repeated";
  evidence.port_taken = false;
  evidence.says_memory_out = true;
  EXPECT_EQ(step_outcome(marks_of(2, 2, {"0 1", "1 1"}), evidence, {}, 2, why)->kind,
            OutcomeKind::out_of_memory)
      << "a rank that ran out of memory keeps the others waiting";
}

TEST(StepOutcome, MessagesOfSlurmDifferFromThoseOfPrograms) {
  EXPECT_TRUE(reports_lost_node("srun: error: Node failure on n2"));
  EXPECT_TRUE(reports_lost_node(
      "srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node 1"));
  EXPECT_FALSE(reports_lost_node("Node failure on n2"));
  EXPECT_TRUE(reports_memory_kill("srun: error: n1: task 0: Out Of Memory"));
  EXPECT_TRUE(reports_memory_kill(
      "slurmstepd-n1: error: Detected 1 oom-kill event(s) in StepId=3.0. Some of your processes"));
  EXPECT_FALSE(reports_memory_kill("RuntimeError: CUDA out of memory"));
  for (const char* line :
       {"RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
        "already in use).",
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
        "network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: "
        "address already in use",
        "OSError: [Errno 98] Address already in use"}) {
    EXPECT_TRUE(reports_taken_port(line)) << line;
  }
  EXPECT_FALSE(reports_taken_port("memory in use: 3 GB at address 0x7f"));
  EXPECT_TRUE(reports_cancelling(
      "slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-22T10:00:00 ***"));
}

TEST(StepOutcome, IsTheReasonForWhichTheTunerEndedTheStep) {
  TrialLimits limits;
  limits.wall_s = 600.0;
  limits.idle_s = 90.0;
  const StepMarks marks = marks_of(1, 1, {"0 0"});
  const auto outcome = [&](StopCause cause) {
    StepEvidence evidence;
    evidence.cause = cause;
    evidence.allocation_state = "PREEMPTED";
    std::string detail;
    return step_outcome(marks, evidence, limits, 1, detail).value();
  };
  EXPECT_EQ(outcome(StopCause::caller).kind, OutcomeKind::stopped);
  EXPECT_EQ(outcome(StopCause::caller).detail, "");
  EXPECT_EQ(outcome(StopCause::wall_limit).kind, OutcomeKind::timed_out);
  EXPECT_EQ(outcome(StopCause::wall_limit).detail, "ran longer than the limit of 10 min");
  EXPECT_EQ(outcome(StopCause::no_output).kind, OutcomeKind::hung);
  EXPECT_EQ(outcome(StopCause::no_output).detail, "no output for 1 min 30 s");
  for (const StopCause cause : {StopCause::caller, StopCause::wall_limit, StopCause::no_output})
    EXPECT_FALSE(is_proven_success(marks, cause)) << "the tuner ended the step";
  EXPECT_TRUE(is_proven_success(marks, std::nullopt));
  EXPECT_FALSE(is_proven_success(marks_of(1, 1, {"0 1"}), std::nullopt));
  EXPECT_FALSE(is_proven_success(marks_of(2, 2, {"0 0"}), std::nullopt));
}

}  // namespace
}  // namespace steptune::slurm
