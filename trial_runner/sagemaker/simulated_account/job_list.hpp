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

/// A page of ListTrainingJobs over all jobs, given in order of creation. Filters by status apply
/// after the page has been cut, as at the real service: a page may be empty and still have a
/// successor.
[[nodiscard]] Answer<Json> list_page(std::vector<ListedJob> jobs, const Json& request);

}  // namespace steptune::simulated
