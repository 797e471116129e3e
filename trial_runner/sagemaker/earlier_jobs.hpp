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

/// Finds the jobs that a tuner which is gone had requested for trials, and hands them to the
/// monitor. Each call waits for the service's answers.
class EarlierJobs {
 public:
  /// `prefix`: of the names of the study's jobs. `make_job` makes what a trial that waits is.
  /// `pause` lets the service learn of a job that it has accepted just now. The references outlive
  /// the object.
  EarlierJobs(TrainingJobs& api, JobMonitor& monitor, const std::string& prefix,
              std::function<Result<TrialJob>(const TrialSpec&)> make_job,
              std::function<void()> pause)
      : api_(api),
        monitor_(monitor),
        prefix_(prefix),
        make_job_(std::move(make_job)),
        pause_(std::move(pause)) {}

  /// The jobs of those trials that have one. A trial may be in a job that has another trial's name:
  /// then in the latest that was created after `packs_since_wall_s`; nothing: none was packed.
  [[nodiscard]] Result<TrialJobs> of(std::span<const Runner::Orphan> orphans,
                                     std::optional<double> packs_since_wall_s);

 private:
  /// Moves the jobs that are named after `trials` to `found`; leaves the others.
  [[nodiscard]] Result<void> find_named(std::vector<const TrialSpec*>& trials, TrialJobs& found);
  [[nodiscard]] Result<std::optional<TrialJob>> named_after(const TrialSpec& spec);
  [[nodiscard]] Result<void> find_in_packs(std::vector<const TrialSpec*> specs, double since_wall_s,
                                           TrialJobs& found);

  TrainingJobs& api_;
  JobMonitor& monitor_;
  const std::string& prefix_;
  std::function<Result<TrialJob>(const TrialSpec&)> make_job_;
  std::function<void()> pause_;
};

}  // namespace steptune
