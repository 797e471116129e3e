// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/utilisation_watch.hpp"

#include <algorithm>
#include <utility>

#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/advice.hpp"

namespace steptune {

void UtilisationWatch::add(EndedJob job, double ended_s) {
  const double training_s = job.training_until_wall_s - job.training_since_wall_s;
  // A shorter training has at most one complete metric point.
  if (training_s < 2.0 * k_metric_period_s || failures_ >= k_lasting_failures) {
    consider({std::move(job), {}});
    return;
  }
  pending_.push_back({std::move(job), ended_s});
}

void UtilisationWatch::consider(const JobUtilisation& job) {
  for (Advice& advice : advise(job, types_)) {
    if (reported_topics_.insert(advice.topic).second) news_.push_back(std::move(advice.text));
  }
}

std::vector<std::string> UtilisationWatch::poll(double now_s, bool last) {
  const bool due = last || std::ranges::any_of(pending_, [&](const Pending& pending) {
                     return now_s >= pending.ended_s + k_metrics_delay_s;
                   });
  std::vector<EndedJob> jobs;
  if (due) {
    // Also read the metrics of jobs that ended a little later, which saves a request. Most of their
    // metrics already exist.
    std::erase_if(pending_, [&](Pending& pending) {
      if (!last && now_s < pending.ended_s + k_metrics_delay_s / 2.0) return false;
      jobs.push_back(std::move(pending.job));
      return true;
    });
  }
  if (!jobs.empty()) ask(jobs);
  return std::exchange(news_, {});
}

void UtilisationWatch::ask(const std::vector<EndedJob>& jobs) {
  const auto read = read_utilisation(client_, cloudwatch_, jobs, types_);
  if (read) {
    failures_ = 0;
    for (const JobUtilisation& job : *read)
      consider(job);
    return;
  }
  const bool denied = read.error().code.starts_with("AccessDenied");
  failures_ = denied ? k_lasting_failures : failures_ + 1;
  if (failures_ >= k_lasting_failures) pending_.clear();
  if (denied) {
    news_.push_back(
        "no advice on instance types: CloudWatch denied access to their metrics; allow "
        "cloudwatch:GetMetricData in the IAM policy of these credentials");
  }
}

}  // namespace steptune
