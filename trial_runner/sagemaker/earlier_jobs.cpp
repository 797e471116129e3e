// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/earlier_jobs.hpp"

#include <algorithm>
#include <utility>

#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/job_outcome.hpp"

namespace steptune {

Result<TrialJobs> EarlierJobs::of(std::span<const Runner::Orphan> orphans,
                                  std::optional<double> packs_since_wall_s) {
  TrialJobs found;
  std::vector<const TrialSpec*> others;
  for (const Runner::Orphan& orphan : orphans)
    others.push_back(&orphan.spec);
  if (auto searched = find_named(others, found); !searched) return tl::unexpected(searched.error());
  if (!others.empty()) {
    // Search again, because an overlooked job would continue to cost money in addition to the
    // trial's next attempt.
    pause_();
    if (auto searched = find_named(others, found); !searched)
      return tl::unexpected(searched.error());
  }
  if (others.empty() || !packs_since_wall_s) return found;
  if (auto searched = find_in_packs(std::move(others), *packs_since_wall_s, found); !searched) {
    return tl::unexpected(searched.error());
  }
  return found;
}

Result<void> EarlierJobs::find_named(std::vector<const TrialSpec*>& trials, TrialJobs& found) {
  std::vector<const TrialSpec*> others;
  for (const TrialSpec* trial : trials) {
    auto job = named_after(*trial);
    if (!job) return tl::unexpected(job.error());
    if (*job) {
      found.push_back(**std::move(job));
    } else {
      others.push_back(trial);
    }
  }
  trials = std::move(others);
  return {};
}

Result<std::optional<TrialJob>> EarlierJobs::named_after(const TrialSpec& spec) {
  std::optional<JobDescription> latest;
  double former_billed_s = 0.0;
  int launches = 0;
  while (true) {
    auto state = api_.describe(job_name(prefix_, spec.key, launches + 1));
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state) break;
    if (latest) former_billed_s += latest->billable_s.value_or(0.0);
    latest = *std::move(state);
    ++launches;
  }
  if (!latest) return std::nullopt;
  // If no job of this name got machines, the trial was waiting, or a pack with another name has run
  // it.
  const bool was_billed = former_billed_s > 0.0 || latest->billed_since_wall_s;
  if (lacked_capacity(*latest) && !was_billed) return std::nullopt;
  const std::string name = job_name(prefix_, spec.key, launches);
  const auto pool = pool_used_by(name);
  if (!pool) return tl::unexpected(pool.error());
  auto job = make_job_(spec);
  if (!job) return tl::unexpected(job.error());
  job->add_bill(former_billed_s);
  std::optional<std::string> pool_job;
  if (*pool != nullptr) {
    pool_job = (*pool)->name;
    job->add_pool_bill(usage_usd(job->usd_per_hour(), (*pool)->pool->retained_s.value_or(0.0)));
  }
  monitor_.adopt(*job, name, launches, *latest, std::move(pool_job));
  return std::optional(*std::move(job));
}

Result<const JobSummary*> EarlierJobs::pool_used_by(const std::string& job) {
  if (!reused_pools_) {
    auto listed = api_.list({prefix_, "Reused", 0.0});
    if (!listed) return tl::unexpected(listed.error().to_error());
    reused_pools_ = *std::move(listed);
  }
  const auto used = std::ranges::find_if(*reused_pools_, [&](const JobSummary& summary) {
    return summary.pool && summary.pool->reused_by == job;
  });
  return used == reused_pools_->end() ? nullptr : &*used;
}

Result<void> EarlierJobs::find_in_packs(std::vector<const TrialSpec*> specs, double since_wall_s,
                                        TrialJobs& found) {
  const auto listed = api_.list({prefix_, {}, since_wall_s});
  if (!listed) return tl::unexpected(listed.error().to_error());
  for (const JobSummary& summary : *listed) {
    if (specs.empty()) break;
    const auto state = api_.describe(summary.name);
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state || lacked_capacity(**state)) continue;
    for (const PackedTrial& trial : (*state)->trials) {
      const auto spec =
          std::ranges::find(specs, trial.key, [](const TrialSpec* each) { return each->key; });
      if (spec == specs.end()) continue;
      auto job = make_job_(**spec);
      if (!job) return tl::unexpected(job.error());
      monitor_.adopt(*job, summary.name, 1, **state);
      found.push_back(*std::move(job));
      specs.erase(spec);
    }
  }
  return {};
}

}  // namespace steptune
