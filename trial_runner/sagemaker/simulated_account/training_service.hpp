// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/sagemaker/simulated_account/audit.hpp"
#include "trial_runner/sagemaker/simulated_account/job_description.hpp"
#include "trial_runner/sagemaker/simulated_account/jobs.hpp"
#include "trial_runner/sagemaker/simulated_account/pools.hpp"
#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

/// SageMaker's training jobs, warm pools and instance quotas: Create, Describe, List, Stop,
/// UpdateTrainingJob. Times are on the account's clock and must not decrease.
class TrainingService {
 public:
  TrainingService(AccountParts account, double wall_minus_clock_s);

  /// Returns the time of the next event; infinite: none.
  [[nodiscard]] double next_event_s() const;
  /// Carries out all events up to `now_s`, in order of time.
  void play_until(double now_s);

  /// Carries out an operation at `now_s`. Call `play_until(now_s)` before.
  [[nodiscard]] Answer<Json> handle(const std::string& operation, const Json& request,
                                    double now_s);

  /// Returns null if there is no such job.
  [[nodiscard]] const SimulatedJob* job(const std::string& name) const;
  /// True if all jobs are over and no pool is kept.
  [[nodiscard]] bool quiet() const { return active_.empty() && kept_.empty(); }
  /// Appends jobs and pools to `audit`.
  void audit(AccountAudit& audit, double now_s) const;

 private:
  struct Entry {
    SimulatedJob job;
    std::string arn;
    std::unique_ptr<WarmPool> pool;  ///< pool that the job left
  };

  [[nodiscard]] Answer<Json> create(const Json& request, double now_s);
  [[nodiscard]] Answer<Json> describe(const Json& request, double now_s);
  [[nodiscard]] Answer<Json> list(const Json& request, double now_s);
  [[nodiscard]] Answer<Json> stop(const Json& request, double now_s);
  [[nodiscard]] Answer<Json> update(const Json& request, double now_s);

  [[nodiscard]] Entry* find(const Json& request) const;
  [[nodiscard]] WarmPool* matching_pool(const Json& request, double now_s) const;
  [[nodiscard]] std::optional<ServiceError> quota_fault(const Json& request,
                                                        const WarmPool* pool) const;
  [[nodiscard]] int kept_instances(const std::string& type) const;
  void leave_pool(Entry& entry, double now_s);
  [[nodiscard]] DescriptionContext context_of(const Entry& entry, double now_s) const;

  AccountParts account_;
  double wall_minus_clock_s_ = 0.0;
  std::vector<std::unique_ptr<Entry>> entries_;  ///< in order of creation
  std::map<std::string, Entry*> by_name_;
  std::vector<Entry*> active_;   ///< jobs that are not over
  std::vector<WarmPool*> kept_;  ///< pools that hold machines
};

}  // namespace steptune::simulated
