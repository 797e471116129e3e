// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_packing.hpp"

#include <algorithm>
#include <map>

#include "common/numbers.hpp"
#include "trial_runner/sagemaker/job_request.hpp"

namespace steptune {

int trials_per_job(const SageMakerOptions& options, const std::optional<PoolKey>& key) {
  // Only jobs with one machine and a pool key (no spot) run several trials. Several machines would
  // have to agree on the turns, and a spot job may restart.
  return key && key->instance_count == 1 ? options.trials_per_job : 1;
}

bool may_be_packed(const SageMakerOptions& options, const TrialJob& job) {
  const TrialSpec& spec = job.spec();
  // With a checkpoint folder, a trial would find the checkpoints of the trial before it. Words and
  // variables with line breaks cannot be part of the shell's script.
  const auto breaks = [](const std::string& text) { return text.find('\n') != text.npos; };
  return trials_per_job(options, job.pool_key()) > 1 && !spec.argv.empty() &&
         options.settings.checkpoint_s3_uri.empty() && std::ranges::none_of(spec.argv, breaks) &&
         std::ranges::none_of(spec.environment,
                              [&](const auto& variable) { return breaks(variable.second); });
}

JobTrials trials_of_job(const SageMakerOptions& options, TrialJobs::iterator first,
                        const JobTrials& waiting) {
  JobTrials trials{first};
  if (!may_be_packed(options, *first)) return trials;
  for (const TrialJobs::iterator job : waiting) {
    if (std::ssize(trials) == options.trials_per_job) break;
    if (job != first && job->pool_key() == first->pool_key() && may_be_packed(options, *job)) {
      trials.push_back(job);
    }
  }
  return trials;
}

double expected_packed_start_s(const SageMakerOptions& options, const TrialJobs& jobs,
                               const std::optional<PoolKey>& key, double start_s,
                               std::ptrdiff_t free) {
  std::map<std::optional<PoolKey>, int> waiting;
  for (const TrialJob& job : jobs) {
    if (job.waits()) ++waiting[job.pool_key()];
  }
  int jobs_to_come = 0;
  for (const auto& [each, count] : waiting)
    jobs_to_come += (count + trials_per_job(options, each) - 1) / trials_per_job(options, each);
  // The trial joins the job of waiting trials, or shares a new job, or has no place.
  const auto alike = waiting.find(key);
  if (alike != waiting.end() && alike->second % trials_per_job(options, key) != 0)
    return 1.0;  // second, because the job starts it right after another trial
  return jobs_to_come < free ? start_s / trials_per_job(options, key) : k_infinity;
}

void keep_trials_of(const JobDescription& job, JobLaunch& launch, JobTrials& pack) {
  launch.pack = job.trials;
  // The job is named after the first trial, so it runs at least this trial.
  const TrialJobs::iterator first = pack.front();
  std::erase_if(pack, [&](const TrialJobs::iterator trial) {
    return trial != first &&
           std::ranges::find(job.trials, trial->key(), &PackedTrial::key) == job.trials.end();
  });
}

Json job_input(const SageMakerOptions& options, const JobTrials& trials, const JobLaunch& launch,
               const std::string& hook) {
  const TrialSpec& first = trials.front()->spec();
  JobSettings settings = options.settings;
  JobRequest request{launch.job, first, launch.keep_alive_s, {}, hook};
  settings.max_runtime_s = 0.0;
  for (const TrialJobs::iterator job : trials) {
    settings.max_runtime_s += job->spec().limits.wall_s;
    if (!launch.pack.empty()) request.pack.push_back(&job->spec());
  }
  settings.max_wait_s = std::max(settings.max_wait_s, settings.max_runtime_s);
  return create_training_job_input(settings, request);
}

}  // namespace steptune
