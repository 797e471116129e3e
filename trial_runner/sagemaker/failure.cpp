// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/failure.hpp"

#include <array>
#include <regex>

#include "common/enum_names.hpp"
#include "common/text.hpp"
#include "trial_runner/output/mentions.hpp"
#include "trial_runner/output/out_of_memory.hpp"

namespace steptune {
namespace {

constexpr std::array<std::string_view, 2> k_internal{"InternalServerError", "internal error"};
/// Phrases of the service. Phrases of programs are recognised for all runners alike
/// (out_of_memory.hpp).
constexpr std::array<std::string_view, 4> k_memory{
    "instance type with more memory", "Out of Memory. Please use a larger instance",
    "killed by SIGKILL (signal 9)", "exit code: 137"};

constexpr auto k_words = enum_names<JobFailure>({
    {JobFailure::capacity, "no capacity for this instance type"},
    {JobFailure::internal, "internal error of SageMaker"},
    {JobFailure::out_of_memory, "out of memory"},
    {JobFailure::user_code, "the program failed"},
});

}  // namespace

JobFailure classify_failure(std::string_view failure_reason) {
  // After "AlgorithmError" comes the program's own text. It may contain "internal error" as well,
  // so look only for lack of memory in it.
  if (!failure_reason.starts_with("AlgorithmError")) {
    if (failure_reason.find("CapacityError") != std::string_view::npos) return JobFailure::capacity;
    if (mentions(failure_reason, k_internal)) return JobFailure::internal;
  }
  if (mentions(failure_reason, k_memory) || reports_out_of_memory(failure_reason)) {
    return JobFailure::out_of_memory;
  }
  return JobFailure::user_code;
}

std::string to_text(JobFailure failure) {
  return std::string(k_words.name_of(failure));
}

bool is_quota(const aws::AwsError& error) {
  return error.code == "ResourceLimitExceeded";
}

bool is_hopeless(const aws::AwsError& error) {
  static const std::regex k_quota(
      "is ([0-9]{1,9}) Instances.* request delta of ([0-9]{1,9}) Instances");
  std::smatch quota;
  const std::string text = printable_line(error.message, 1024);
  if (std::regex_search(text, quota, k_quota) && std::stol(quota[1]) < std::stol(quota[2])) {
    return true;
  }
  return text.find("is 0 Instances") != std::string::npos ||
         text.find("is not available in this region") != std::string::npos;
}

}  // namespace steptune
