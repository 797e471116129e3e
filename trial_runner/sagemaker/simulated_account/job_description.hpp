// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/json.hpp"
#include "trial_runner/sagemaker/simulated_account/jobs.hpp"
#include "trial_runner/sagemaker/simulated_account/pools.hpp"

namespace steptune::simulated {

/// Data for descriptions in addition to the job's own.
struct DescriptionContext {
  std::string_view arn;
  const WarmPool* pool = nullptr;  ///< the job's pool; null: none
  double now_s = 0.0;
  double wall_minus_clock_s = 0.0;
};

/// Returns the WarmPoolStatus of a job; null without a pool. A job that requests a pool has the
/// status `InUse` while it runs.
[[nodiscard]] Json warm_pool_status(const SimulatedJob& job, const DescriptionContext& context);
/// Returns an entry of ListTrainingJobs. Fields are absent until set.
[[nodiscard]] Json summary(const SimulatedJob& job, const DescriptionContext& context);
/// Returns the answer of DescribeTrainingJob. Fields are absent until set.
[[nodiscard]] Json description(const SimulatedJob& job, const DescriptionContext& context);

}  // namespace steptune::simulated
