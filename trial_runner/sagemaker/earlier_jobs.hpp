// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/job_monitor.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// Finds the jobs that an earlier tuner requested for trials, and passes them to the monitor. Each
/// call waits for the service's answers.
class EarlierJobs {
 public:
  /// `prefix` is the prefix of the study's job names. `make_job` creates a trial that waits for a
  /// job. `pause` waits until the service knows jobs that it has just accepted. The references
  /// outlive the object.
  EarlierJobs(TrainingJobs& api, JobMonitor& monitor, const std::string& prefix,
              std::function<Result<TrialJob>(const TrialSpec&)> make_job,
              std::function<void()> pause)
      : api_(api),
        monitor_(monitor),
        prefix_(prefix),
        make_job_(std::move(make_job)),
        pause_(std::move(pause)) {}

  /// Returns the trials that have a job. Jobs without machines do not count. If several trials
  /// share a job (a pack), the job is named after one of them. To find the other trials of packs,
  /// searches the jobs created after `packs_since_wall_s`, latest first. nullopt: there were no
  /// packs.
  [[nodiscard]] Result<TrialJobs> of(std::span<const Runner::Orphan> orphans,
                                     std::optional<double> packs_since_wall_s);

 private:
  /// Finds trials that have a job of their name. Moves them from `trials` to `found`.
  [[nodiscard]] Result<void> find_named(std::vector<const TrialSpec*>& trials, TrialJobs& found);
  [[nodiscard]] Result<std::optional<TrialJob>> named_after(const TrialSpec& spec);
  /// Returns the earlier job whose warm pool `job` uses; null if it started cold.
  [[nodiscard]] Result<const JobSummary*> pool_used_by(const std::string& job);
  [[nodiscard]] Result<void> find_in_packs(std::vector<const TrialSpec*> specs, double since_wall_s,
                                           TrialJobs& found);

  TrainingJobs& api_;
  JobMonitor& monitor_;
  const std::string& prefix_;
  std::function<Result<TrialJob>(const TrialSpec&)> make_job_;
  std::function<void()> pause_;
  std::optional<std::vector<JobSummary>> reused_pools_;  ///< nullopt: not read yet
};

}  // namespace steptune
