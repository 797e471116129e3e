// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Why a training job failed, as far as it decides what to do next.
enum class JobFailure {
  capacity,       ///< no instances available: try again later, or another type
  internal,       ///< the service's own fault: try again
  out_of_memory,  ///< of the instance or the accelerator: teaches the searcher
  user_code,      ///< the program's own failure: its log tells
};

/// Reads a FailureReason. Its forms are not documented as an interface, so unknown ones count as
/// the program's own failure, which is never retried and always shown with the log's tail.
[[nodiscard]] JobFailure classify_failure(std::string_view failure_reason);

/// `internal error of SageMaker`, ...: for people.
[[nodiscard]] std::string to_text(JobFailure failure);

}  // namespace steptune
