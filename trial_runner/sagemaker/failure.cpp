// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/failure.hpp"

#include <algorithm>
#include <array>

namespace steptune {
namespace {

template <std::size_t Size>
bool mentions(std::string_view text, const std::array<std::string_view, Size>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

constexpr std::array<std::string_view, 2> k_internal{"InternalServerError", "internal error"};
constexpr std::array<std::string_view, 4> k_device_memory{
    "CUDA out of memory", "CUDA error: out of memory", "HIP out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED"};
constexpr std::array<std::string_view, 7> k_host_memory{
    "instance type with more memory",
    "Out of Memory. Please use a larger instance",
    "killed by SIGKILL (signal 9)",
    "MemoryError",
    "std::bad_alloc",
    "DefaultCPUAllocator: can't allocate memory",
    "exit code: 137"};

}  // namespace

JobFailure classify_failure(std::string_view failure_reason) {
  if (failure_reason.find("CapacityError") != std::string_view::npos) return JobFailure::capacity;
  if (mentions(failure_reason, k_internal)) return JobFailure::internal;
  if (mentions(failure_reason, k_device_memory)) return JobFailure::device_memory;
  if (mentions(failure_reason, k_host_memory)) return JobFailure::host_memory;
  return JobFailure::user_code;
}

std::string to_text(JobFailure failure) {
  switch (failure) {
    case JobFailure::capacity:
      return "no capacity for this instance type";
    case JobFailure::internal:
      return "internal error of SageMaker";
    case JobFailure::host_memory:
      return "out of memory on the instance";
    case JobFailure::device_memory:
      return "out of memory on the accelerator";
    case JobFailure::user_code:
      return "the program failed";
  }
  return "unknown";
}

}  // namespace steptune
