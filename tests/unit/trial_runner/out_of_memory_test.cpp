// SPDX-License-Identifier: Apache-2.0
//
// Tests that the last output shows that a program ran out of memory (local and SageMaker runners).
#include "trial_runner/output/out_of_memory.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "trial_runner/local/ending.hpp"
#include "trial_runner/sagemaker/job_outcome.hpp"

namespace steptune {
namespace {

constexpr const char* k_out_of_memory[] = {
    "terminate called after throwing an instance of 'std::bad_alloc'",
    "MemoryError",
    "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB",
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
    "RuntimeError: CUDA error: out of memory",
    "torch.OutOfMemoryError: HIP out of memory.",
    "RuntimeError: MPS backend out of memory (MPS allocated: 8.9 GB)",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't "
    "allocate memory: you tried to allocate 4000 bytes.",
    "OSError: [Errno 12] Cannot allocate memory",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory",
    "failed to alloc 8589934592 bytes on host: CUDA_ERROR_OUT_OF_MEMORY",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error",
    "OOM when allocating tensor with shape[512,1024]",
    "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED",
    "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=3.0.",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=3.0.",
    "slurmstepd: error: Step 3.0 exceeded memory limit (4096 > 2048), being killed",
};
constexpr const char* k_other[] = {"Segmentation fault", "ValueError: batch_size",
                                   "memory 4 GB free", ""};

OutputTail tail_of(const std::string& output) {
  OutputTail tail;
  tail.feed(output + "\nTraceback\n  one\n  two\n  three\n  four\n  five\n");
  return tail;
}

OutcomeKind local_outcome(const OutputTail& output) {
  constexpr int k_exit_status_1 = 1 << 8;  // as waitpid returns it
  return local::own_ending(k_exit_status_1, local::OomKillPlace::nowhere,
                           ended_out_of_memory(output), /*says_ranks_waited=*/false)
      .kind;
}

OutcomeKind sagemaker_outcome(const OutputTail& output) {
  JobDescription state;
  state.status = "Failed";
  state.failure_reason = "AlgorithmError: , exit code: 1";
  return job_outcome(state, {}, {}, output).kind;
}

OutcomeKind sagemaker_turn_outcome(const OutputTail& output) {
  TurnEnd end;
  end.exit_code = 1;
  return turn_outcome(end, 60.0, {}, {}, output).kind;
}

void expect_everywhere(const OutputTail& output, OutcomeKind kind) {
  EXPECT_EQ(local_outcome(output), kind);
  EXPECT_EQ(sagemaker_outcome(output), kind);
  EXPECT_EQ(sagemaker_turn_outcome(output), kind);
}

Report progress_of(std::optional<int> rank, double samples) {
  Report report;
  report.global_rank = rank;
  report.samples = samples;
  return report;
}

TEST(OutOfMemory, LocalAndSageMakerRunnersFindItInTheOutput) {
  for (const char* text : k_out_of_memory) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(reports_out_of_memory(text));
    expect_everywhere(tail_of(text), OutcomeKind::out_of_memory);
  }
  for (const char* text : k_other) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(reports_out_of_memory(text));
    expect_everywhere(tail_of(text), OutcomeKind::failed);
  }
}

TEST(OutOfMemory, AMessageBeforeLaterProgressDoesNotCount) {
  OutputTail tail = tail_of("CUDA out of memory: the next batch is half as large");
  for (const double samples : {64.0, 128.0})
    mark_progress(tail, progress_of(0, samples));
  tail.feed("KeyError: 'label'\n");
  expect_everywhere(tail, OutcomeKind::failed);
  tail.feed("RuntimeError: CUDA out of memory\n");
  expect_everywhere(tail, OutcomeKind::out_of_memory);
}

TEST(OutOfMemory, OneRankOutOfMemoryCountsForAll) {
  OutputTail tail;
  for (const double samples : {64.0, 128.0}) {
    for (const int rank : {0, 1})
      mark_progress(tail, progress_of(rank, samples));
  }
  tail.feed("RuntimeError: CUDA out of memory\n");
  for (const double samples : {192.0, 256.0, 320.0})
    mark_progress(tail, progress_of(0, samples));
  tail.feed("RuntimeError: Connection closed by peer\n");
  expect_everywhere(tail, OutcomeKind::out_of_memory);
}

TEST(OutOfMemory, IsFoundIfReportsHaveNoRank) {
  OutputTail tail;
  tail.feed("step=1\nRuntimeError: CUDA out of memory\n");
  for (int process = 0; process < 7; ++process)
    mark_progress(tail, progress_of({}, 64.0));
  tail.feed("RuntimeError: Connection closed by peer\n");
  expect_everywhere(tail, OutcomeKind::out_of_memory);
}

}  // namespace
}  // namespace steptune
