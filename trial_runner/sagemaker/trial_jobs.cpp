// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/trial_jobs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {

std::vector<TrialJob*> trials_of(TrialJobs& jobs, const std::string& name) {
  std::vector<TrialJob*> found;
  for (TrialJob& job : jobs) {
    if (!job.waits() && job.launch().job == name) found.push_back(&job);
  }
  return found;
}

std::vector<TrialJob*> open_trials_of(TrialJobs& jobs, const std::string& name) {
  std::vector<TrialJob*> open = trials_of(jobs, name);
  std::erase_if(open, [](const TrialJob* job) { return !job->under_way(); });
  return open;
}

bool leads_job(const TrialJobs& jobs, const TrialJob& job) {
  if (!job.under_way()) return false;
  if (!job.is_packed()) return true;
  const auto first = std::ranges::find_if(jobs, [&](const TrialJob& each) {
    return each.under_way() && each.launch().job == job.launch().job;
  });
  return first != jobs.end() && &*first == &job;
}

std::vector<const TrialJob*> jobs_under_way(const TrialJobs& jobs) {
  std::vector<const TrialJob*> found;
  for (const TrialJob& job : jobs) {
    if (leads_job(jobs, job)) found.push_back(&job);
  }
  return found;
}

std::string detached_jobs_text(const TrialJobs& jobs, int keep_alive_s) {
  std::string text;
  double usd_per_hour = 0.0;
  for (const TrialJob* job : jobs_under_way(jobs)) {
    double longest_s = 0.0;
    for (const TrialJob& each : jobs) {
      const bool shares = each.under_way() && each.launch().job == job->launch().job;
      if (shares) longest_s += each.spec().limits.wall_s;
    }
    text += fmt::format("job {} continues: {} per hour, for at most {}\n", job->launch().job,
                        format_usd(job->usd_per_hour()), format_duration(longest_s));
    usd_per_hour += job->usd_per_hour();
  }
  if (usd_per_hour > 0.0) {
    text += fmt::format("total {} per hour; each job's warm pool is kept for up to {}\n",
                        format_usd(usd_per_hour), format_duration(keep_alive_s));
  }
  return text;
}

std::vector<std::string> leftover_texts(const TrialJobs& jobs, const std::vector<WarmPool>& pools,
                                        int keep_alive_s) {
  std::vector<std::string> texts;
  for (const TrialJob* job : jobs_under_way(jobs)) {
    texts.push_back(fmt::format("job {} {}: {} per hour; the next run of the study adopts it",
                                job->launch().job,
                                job->stop_accepted() ? "is still being stopped" : "still runs",
                                format_usd(job->usd_per_hour())));
  }
  for (const WarmPool& pool : pools) {
    texts.push_back(
        fmt::format("the warm pool of job {} ({}) is not released: {} per hour for at most {}; "
                    "release it with `steptune pools --release`",
                    pool.job, pool.key.instance_type, format_usd(pool.usd_per_hour),
                    format_duration(keep_alive_s)));
  }
  return texts;
}

}  // namespace steptune
