// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <string>
#include <vector>

#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/sagemaker/warm_pools.hpp"

namespace steptune {

/// Trials in the order in which the loop passed them to the runner. References to a trial stay
/// valid when other trials are added or removed.
using TrialJobs = std::list<TrialJob>;

/// True if the trial's job is under way, and the trial is the first one in it that is under way.
/// This trial represents the job.
[[nodiscard]] bool leads_job(const TrialJobs& jobs, const TrialJob& job);

/// Returns jobs under way, each represented by its first unfinished trial.
[[nodiscard]] std::vector<const TrialJob*> jobs_under_way(const TrialJobs& jobs);

/// Returns the trials of a job, in order. Waiting trials have no job.
[[nodiscard]] std::vector<TrialJob*> trials_of(TrialJobs& jobs, const std::string& name);

/// Returns the unfinished trials of a job.
[[nodiscard]] std::vector<TrialJob*> open_trials_of(TrialJobs& jobs, const std::string& name);

/// Returns a text on jobs under way, which continue without the tuner, with their prices per hour
/// and longest times. `keep_alive_s`: seconds for which each job's warm pool is kept. Empty if
/// there are none.
[[nodiscard]] std::string detached_jobs_text(const TrialJobs& jobs, int keep_alive_s);

/// Returns texts on jobs and warm pools that still cost money when the tuner ends.
[[nodiscard]] std::vector<std::string> leftover_texts(const TrialJobs& jobs,
                                                      const std::vector<WarmPool>& pools,
                                                      int keep_alive_s);

}  // namespace steptune
