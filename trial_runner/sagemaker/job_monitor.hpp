// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/sagemaker/warm_pools.hpp"

namespace steptune {

/// In the order in which they were handed over. References stay valid while others come and go.
using TrialJobs = std::list<TrialJob>;

/// Learns by polling what becomes of jobs under way, and moves them on: to running, ended, or back
/// to waiting where there was no capacity. Their output comes from CloudWatch Logs, with one
/// request for all of them. Requests that fail for a while are made again at the next call; errors
/// are those of `Outage`.
class JobMonitor {
 public:
  /// All outlive the object.
  JobMonitor(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
             WarmPools& pools, const SageMakerOptions& options)
      : clock_(clock),
        api_(jobs),
        outage_(outage),
        notices_(notices),
        pools_(pools),
        options_(options) {}

  /// All jobs have names that begin so; `logs` tells what they print. Before any of the following.
  void begin(std::string prefix, LogFollower logs);

  /// A job of a former tuner, as the service describes it: waiting -> requested.
  void adopt(TrialJob& job, const std::string& name, int launch, const JobDescription& state);

  /// Asks the service for a job's end. A request that fails is repeated at the next look.
  void request_stop(TrialJob& job, StopReason reason);

  /// Looks at the jobs whose state may have changed.
  [[nodiscard]] Result<void> look(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// Reads what was printed, if it is time.
  [[nodiscard]] Result<void> read_output(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// Whether everything was read that a job which has ended may have printed.
  [[nodiscard]] bool has_all_output(const TrialJob& job) const {
    return output_read_s_ >= job.output_until_s();
  }

  /// When the next of these is due; infinite without jobs.
  [[nodiscard]] double next_due_s(const TrialJobs& jobs) const;

 private:
  [[nodiscard]] double wall_to_clock(double wall_s) const;
  /// Of many jobs those that have changed since they were last listed; of few all.
  [[nodiscard]] Result<std::vector<TrialJob*>> changed(std::vector<TrialJob*> due);
  [[nodiscard]] Result<void> look_at(TrialJob& job, std::vector<TrialEvent>& events);
  void on_ended(TrialJob& job, const JobDescription& state);
  [[nodiscard]] bool launch_again(TrialJob& job, const JobDescription& state);

  const Clock& clock_;
  TrainingJobs& api_;
  Outage& outage_;
  Notices& notices_;
  WarmPools& pools_;
  const SageMakerOptions& options_;
  std::string prefix_;
  std::optional<LogFollower> logs_;
  double next_output_s_ = 0.0;
  double output_read_s_ = -std::numeric_limits<double>::infinity();  ///< last complete reading
};

}  // namespace steptune
