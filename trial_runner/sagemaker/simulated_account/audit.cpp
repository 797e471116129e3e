// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/audit.hpp"

#include <algorithm>

namespace steptune::simulated {

const JobAudit* AccountAudit::job(const std::string& name) const {
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const JobAudit& job) { return job.name == name; });
  return found == jobs.end() ? nullptr : &*found;
}

const PoolAudit* AccountAudit::pool_of(const std::string& job) const {
  const auto found = std::find_if(pools.begin(), pools.end(),
                                  [&](const PoolAudit& pool) { return pool.job == job; });
  return found == pools.end() ? nullptr : &*found;
}

}  // namespace steptune::simulated
