// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/failure.hpp"

#include <algorithm>
#include <array>

#include "trial_runner/output/out_of_memory.hpp"

namespace steptune {
namespace {

template <std::size_t Size>
bool mentions(std::string_view text, const std::array<std::string_view, Size>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

constexpr std::array<std::string_view, 2> k_internal{"InternalServerError", "internal error"};
/// The service's own words; a program's are those of any runner.
constexpr std::array<std::string_view, 4> k_memory{
    "instance type with more memory", "Out of Memory. Please use a larger instance",
    "killed by SIGKILL (signal 9)", "exit code: 137"};

}  // namespace

JobFailure classify_failure(std::string_view failure_reason) {
  if (failure_reason.find("CapacityError") != std::string_view::npos) return JobFailure::capacity;
  if (mentions(failure_reason, k_internal)) return JobFailure::internal;
  if (mentions(failure_reason, k_memory) || reports_out_of_memory(failure_reason)) {
    return JobFailure::out_of_memory;
  }
  return JobFailure::user_code;
}

std::string to_text(JobFailure failure) {
  switch (failure) {
    case JobFailure::capacity:
      return "no capacity for this instance type";
    case JobFailure::internal:
      return "internal error of SageMaker";
    case JobFailure::out_of_memory:
      return "out of memory";
    case JobFailure::user_code:
      return "the program failed";
  }
  return "unknown";
}

}  // namespace steptune
