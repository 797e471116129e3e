// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trial_runner/sagemaker/simulated_account/job_description.hpp"
#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

struct ListedJob {
  const SimulatedJob* job = nullptr;
  DescriptionContext context;
};

/// Returns a page of ListTrainingJobs from all jobs in order of creation. Filters by status apply
/// after cutting pages, as in the real service, so an empty page may have a successor.
[[nodiscard]] Answer<Json> list_page(std::vector<ListedJob> jobs, const Json& request);

}  // namespace steptune::simulated
