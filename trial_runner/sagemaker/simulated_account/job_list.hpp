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

/// Returns one page of the answer to ListTrainingJobs. `jobs` are all jobs, in order of creation.
/// As in the real service, the filter by status applies only after the list was cut into pages. So
/// a page may be empty although another page follows.
[[nodiscard]] Answer<Json> list_page(std::vector<ListedJob> jobs, const Json& request);

}  // namespace steptune::simulated
