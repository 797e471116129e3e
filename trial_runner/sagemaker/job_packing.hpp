// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/pool_key.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/trial_jobs.hpp"

namespace steptune {

/// Waiting trials that one job will run: a single trial, or a pack of trials in turn
/// (`trial_pack.hpp`). The job is named after the first trial.
using JobTrials = std::vector<TrialJobs::iterator>;

/// Returns the number of trials that one job may run one after the other. `key` is nullopt for jobs
/// that cannot use pools.
[[nodiscard]] int trials_per_job(const SageMakerOptions& options,
                                 const std::optional<PoolKey>& key);

/// True if the trial may be in a pack.
[[nodiscard]] bool may_be_packed(const SageMakerOptions& options, const TrialJob& job);

/// Returns `first` and the trials of `waiting` that the same job can run after it.
[[nodiscard]] JobTrials trials_of_job(const SageMakerOptions& options, TrialJobs::iterator first,
                                      const JobTrials& waiting);

/// Returns the expected start-up seconds of another trial with this `key`, if jobs run several
/// trials. A job starts in `start_s`, and `free` more jobs may run. Infinite if no job has a place
/// for the trial.
[[nodiscard]] double expected_packed_start_s(const SageMakerOptions& options, const TrialJobs& jobs,
                                             const std::optional<PoolKey>& key, double start_s,
                                             std::ptrdiff_t free);

/// Removes trials that `job` does not run from `pack`; they continue to wait. Call this if `job`
/// already existed: an earlier request, whose answer was lost, may have contained fewer trials.
void keep_trials_of(const JobDescription& job, JobLaunch& launch, JobTrials& pack);

/// Returns the input of CreateTrainingJob for these trials. Without `launch.pack`, the job runs a
/// single trial without the pack's shell. `hook` is the packed Python hook, for trials that use it.
[[nodiscard]] Json job_input(const SageMakerOptions& options, const JobTrials& trials,
                             const JobLaunch& launch, const std::string& hook);

}  // namespace steptune
