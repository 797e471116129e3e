// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/job_monitor.hpp"
#include "trial_runner/sagemaker/pool_key.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"

namespace steptune {

/// Trials that wait and that one job is requested for: one alone, or a pack (`trial_pack.hpp`), the
/// first of which gives the job its name.
using JobTrials = std::vector<TrialJobs::iterator>;

/// How many a job on such machines may run in turn; `key`: nothing for jobs that can use no pool.
[[nodiscard]] int trials_per_job(const SageMakerOptions& options,
                                 const std::optional<PoolKey>& key);

/// Whether the trial may be one of several in a job.
[[nodiscard]] bool may_be_packed(const SageMakerOptions& options, const TrialJob& job);

/// `first` and those of `waiting` that its job can run after it.
[[nodiscard]] JobTrials trials_of_job(const SageMakerOptions& options, TrialJobs::iterator first,
                                      const JobTrials& waiting);

/// The input of CreateTrainingJob for these trials. `hook`: PyTorch's, packed, for trials that have
/// one.
[[nodiscard]] Json job_input(const SageMakerOptions& options, const JobTrials& trials,
                             const JobLaunch& launch, const std::string& hook);

}  // namespace steptune
