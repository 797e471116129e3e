// SPDX-License-Identifier: Apache-2.0
//
// Tests that the last output shows that ranks waited for each other (local and SageMaker runners).
#include "trial_runner/output/waiting_ranks.hpp"

#include <string>

#include <gmock/gmock.h>

#include "trial_runner/local/ending.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/sagemaker/job_outcome.hpp"

namespace steptune {
namespace {

constexpr const char* k_waiting_lines[] = {
    "[rank0]:[E1206 18:44:12.71 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600061 "
    "milliseconds before timing out.",
    "RuntimeError: [unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to "
    "complete",
    "RuntimeError: [unbound_buffer.cc:136] Timed out waiting 1800000ms for send operation to "
    "complete",
    "store->get('0') got error: Timeout waiting for key: default_pg/0/0 after 1800000 ms",
    "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0/0",
    "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 "
    "clients joined.",
    "RuntimeError: Rank 1 failed to pass monitoredBarrier in 1000 ms",
    "E0101 rendezvous.cc:112] Termination timeout for `first call to collective` of 40 seconds "
    "exceeded. Exiting to ensure a consistent program state.",
};

OutputTail ended_with(const std::string& line) {
  OutputTail tail;
  tail.feed("epoch 1\n" + line + "\nterminate called after throwing an instance\n");
  return tail;
}

Outcome local_ending(const OutputTail& tail) {
  constexpr int k_aborted = 6;  // SIGABRT, as waitpid returns it
  return local::own_ending(k_aborted, local::OomKillPlace::nowhere, ended_out_of_memory(tail),
                           ended_with_waiting_ranks(tail));
}

Outcome sagemaker_ending(const OutputTail& tail) {
  JobDescription state;
  state.status = "Failed";
  state.failure_reason = "AlgorithmError: , exit code: 1";
  return job_outcome(state, {}, {}, tail);
}

TEST(WaitingRanks, MakeAFailedTrialHung) {
  for (const char* line : k_waiting_lines) {
    SCOPED_TRACE(line);
    for (const Outcome& outcome :
         {local_ending(ended_with(line)), sagemaker_ending(ended_with(line))}) {
      EXPECT_EQ(outcome.kind, OutcomeKind::hung);
      EXPECT_THAT(outcome.detail, testing::HasSubstr("ranks waited for each other for too long"));
    }
  }
  for (const char* line :
       {"KeyError: 'label'", "RuntimeError: Connection closed by peer", "timeout=600 s",
        "waiting for the data set", "TimeoutError: Timed out waiting for the lock of the data set",
        "Timeout waiting for connection from pool"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(local_ending(ended_with(line)).kind, OutcomeKind::failed);
    EXPECT_EQ(sagemaker_ending(ended_with(line)).kind, OutcomeKind::failed);
  }
}

TEST(WaitingRanks, AMessageBeforeLaterProgressDoesNotCount) {
  OutputTail tail = ended_with(k_waiting_lines[1]);
  EXPECT_EQ(local_ending(tail).kind, OutcomeKind::hung);
  for (const double samples : {64.0, 128.0}) {
    Report report;
    report.samples = samples;
    mark_progress(tail, report);
  }
  tail.feed("KeyError: 'label'\n");
  EXPECT_EQ(local_ending(tail).kind, OutcomeKind::failed);
}

TEST(WaitingRanks, AreNoReasonIfARankRanOutOfMemory) {
  const std::string lines = std::string("CUDA out of memory\n") + k_waiting_lines[0];
  EXPECT_EQ(local_ending(ended_with(lines)).kind, OutcomeKind::out_of_memory);
  EXPECT_EQ(sagemaker_ending(ended_with(lines)).kind, OutcomeKind::out_of_memory);
}

}  // namespace
}  // namespace steptune
