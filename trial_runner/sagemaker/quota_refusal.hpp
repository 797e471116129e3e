// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// True if the service refused a job because of a quota.
[[nodiscard]] bool is_quota(const aws::AwsError& error);

/// True if waiting cannot help: the quota is smaller than one job needs, or the region lacks the
/// instance type.
[[nodiscard]] bool is_hopeless(const aws::AwsError& error);

}  // namespace steptune
