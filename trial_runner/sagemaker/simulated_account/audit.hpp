// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/sagemaker/simulated_account/jobs.hpp"

namespace steptune::simulated {

/// Data for an independent check of a job's bill. Times are on the account's clock, in seconds.
/// Billed and retained seconds are for one instance.
struct JobAudit {
  std::string name;
  std::string status;     ///< TrainingJobStatus
  std::string secondary;  ///< SecondaryStatus
  std::string failure_reason;
  bool warm = false;  ///< true if the job took over a pool
  bool spot = false;
  std::vector<std::pair<std::string, int>> instances;  ///< types and counts
  double created_s = 0.0;
  double billed_s = 0.0;  ///< billed seconds, set when the job is over
  std::vector<StatusTransition> transitions;
  std::vector<TrialKey> trials_over{};  ///< trials of a pack whose turns are over
  bool pack = false;
};

struct PoolAudit {
  std::string job;  ///< job that left the pool
  std::string status;
  std::string reused_by;
  std::string instance_type;
  int instances = 0;
  double retained_s = 0.0;
};

struct AccountAudit {
  double now_s = 0.0;
  std::vector<JobAudit> jobs;                  ///< in order of creation
  std::vector<PoolAudit> pools;                ///< in order of creation
  int requests = 0;                            ///< number of all requests, accepted or not
  std::map<std::string, int> refused;          ///< number that rate limits refused, by operation
  std::map<std::string, int> most_per_second;  ///< largest number in any one second, by operation

  /// Returns null if there is no such job.
  [[nodiscard]] const JobAudit* job(const std::string& name) const;
  [[nodiscard]] const PoolAudit* pool_of(const std::string& job) const;
};

}  // namespace steptune::simulated
