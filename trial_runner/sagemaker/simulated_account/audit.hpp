// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/sagemaker/simulated_account/jobs.hpp"

namespace steptune::simulated {

/// What an independent checker of a bill needs. Times are on the account's clock, in seconds;
/// billed and retained seconds are those of one instance.
struct JobAudit {
  std::string name;
  std::string status;     ///< TrainingJobStatus
  std::string secondary;  ///< SecondaryStatus
  std::string failure_reason;
  bool warm = false;  ///< it took over a pool
  bool spot = false;
  std::vector<std::pair<std::string, int>> instances;  ///< types and counts
  double created_s = 0.0;
  double billed_s = 0.0;  ///< once it is over
  std::vector<StatusTransition> transitions;
  std::vector<TrialKey> trials_over{};  ///< of a pack: those that came to their own ends
  bool pack = false;
};

struct PoolAudit {
  std::string job;  ///< that left it
  std::string status;
  std::string reused_by;
  std::string instance_type;
  int instances = 0;
  double retained_s = 0.0;
};

struct AccountAudit {
  double now_s = 0.0;
  std::vector<JobAudit> jobs;                  ///< in order of creation
  std::vector<PoolAudit> pools;                ///< likewise
  int requests = 0;                            ///< whatever became of them
  std::map<std::string, int> refused;          ///< by rate limits; operation to count
  std::map<std::string, int> most_per_second;  ///< highest rate seen, by operation

  /// Null if there is none.
  [[nodiscard]] const JobAudit* job(const std::string& name) const;
  [[nodiscard]] const PoolAudit* pool_of(const std::string& job) const;
};

}  // namespace steptune::simulated
