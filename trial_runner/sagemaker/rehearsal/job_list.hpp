// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trial_runner/sagemaker/rehearsal/job_description.hpp"
#include "trial_runner/sagemaker/rehearsal/service_error.hpp"

namespace steptune::rehearsal {

struct ListedJob {
  const SimulatedJob* job = nullptr;
  DescriptionContext context;
};

/// A page of ListTrainingJobs over all jobs, given in order of creation. Filters by status apply
/// after the page has been cut, as at the real service: a page may be empty and still have a
/// successor.
[[nodiscard]] Answer<Json> list_page(std::vector<ListedJob> jobs, const Json& request);

}  // namespace steptune::rehearsal
