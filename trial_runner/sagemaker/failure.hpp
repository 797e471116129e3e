// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// Reasons for a training job's failure, by the reaction that they need.
enum class JobFailure {
  capacity,       ///< no instances available: try again later, or another type
  internal,       ///< fault of the service: try again
  out_of_memory,  ///< memory of the instance or the accelerator ran out: the searcher learns from
                  ///< it
  user_code,      ///< failure of the program: see its log
};

/// Classifies a FailureReason. AWS does not document its texts. An unknown text counts as a failure
/// of the program: the runner shows the end of its log and does not retry the job.
[[nodiscard]] JobFailure classify_failure(std::string_view failure_reason);

/// Returns a text for people, such as `internal error of SageMaker`.
[[nodiscard]] std::string to_text(JobFailure failure);

/// True if the service refused a job because of a quota.
[[nodiscard]] bool is_quota(const aws::AwsError& error);

/// True if waiting cannot help: the quota is smaller than one job needs, or the region lacks the
/// instance type.
[[nodiscard]] bool is_hopeless(const aws::AwsError& error);

}  // namespace steptune
