// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/out_of_memory.hpp"

#include <array>

#include "trial_runner/output/mentions.hpp"

namespace steptune {
namespace {

/// Messages of the C++ runtime, Python and Java (`MemoryError` is part of `OutOfMemoryError`),
/// PyTorch (all devices), CUDA, TensorFlow, JAX, the C library, the shell and batch systems.
constexpr std::array<std::string_view, 18> k_phrases{
    "std::bad_alloc",
    "MemoryError",
    "CUDA out of memory",
    "CUDA error: out of memory",
    "HIP out of memory",
    "MPS backend out of memory",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "cudaErrorMemoryAllocation",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "can't allocate memory",
    "Cannot allocate memory",
    "RESOURCE_EXHAUSTED",
    "ResourceExhaustedError",
    "OOM when allocating tensor",
    "oom-kill",
    "oom_kill",
    "Out Of Memory",
    "exceeded memory limit",
};

}  // namespace

bool reports_out_of_memory(std::string_view output) {
  return mentions(output, k_phrases);
}

void mark_progress(OutputTail& tail, const Report& report) {
  if (const auto count = report.step ? report.step : report.samples) {
    tail.mark_progress(report.global_rank.value_or(0), *count);
  }
}

bool ended_out_of_memory(const OutputTail& tail) {
  return reports_out_of_memory(tail.since_progress());
}

}  // namespace steptune
