// SPDX-License-Identifier: Apache-2.0
// The warm pools of a SageMakerRunner: what jobs leave behind, until it is used or given back.
#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/json_fields.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"

namespace steptune {
namespace {

/// Pools outlive a tuner that dies by this and by some times what they usually wait for: it may
/// only have been slow.
constexpr double k_least_keep_alive_s = 60.0;
constexpr double k_think_times_kept = 10.0;
/// A pool shows up within seconds of its job's end, or not at all.
constexpr double k_longest_settling_s = 120.0;

double usd_of(const WarmPool& pool, double retained_s) {
  return pool.usd_per_hour * retained_s / 3600.0;
}

}  // namespace

int SageMakerRunner::keep_alive_for(const JobInFlight& job) const {
  if (!job.pool_key || types_without_pools_.contains(job.pool_key->instance_type)) return 0;
  const bool others_wait = std::ranges::any_of(
      jobs_, [&](const JobInFlight& other) { return &other != &job && !other.submitted(); });
  if (!others_wait && further_trials_ == 0) return 0;
  const double chosen_s = k_least_keep_alive_s + k_think_times_kept * think_time_s_;
  return std::min(options_.keep_alive_s, static_cast<int>(chosen_s));
}

Result<void> SageMakerRunner::check_reuse(JobInFlight& job) {
  if (!job.pool_job || job.pool_checked) return {};
  const auto former = jobs_api_.describe(*job.pool_job);
  if (!former) return bear(former.error());
  answered();
  job.pool_checked = true;
  if (!*former || !(*former)->pool) return {};
  const PoolState& pool = *(*former)->pool;
  const double usd = job.usd_per_hour * pool.retained_s.value_or(0.0) / 3600.0;
  if (pool.reused_by == job.job) {
    job.billed_usd += usd;
    return {};
  }
  overhead_usd_ += usd;
  notice(
      pool.reused_by.empty()
          ? fmt::format("trial {} started cold: the warm pool of job {} ended before it could be "
                        "used ({})",
                        job.spec.key.trial, *job.pool_job, pool.status)
          : fmt::format("trial {} started cold: the warm pool of job {} was taken by job {}, "
                        "which has the same role, instances and network",
                        job.spec.key.trial, *job.pool_job, pool.reused_by));
  job.pool_job.reset();
  return {};
}

Result<void> SageMakerRunner::look_at(WarmPool& pool, bool& gone) {
  const double now_s = clock_.now_s();
  const auto state = jobs_api_.describe(pool.job);
  if (!state) return bear(state.error());
  answered();
  const auto told = *state ? (*state)->pool : std::nullopt;
  const std::string status = told ? told->status : std::string();
  const double retained_s = told ? told->retained_s.value_or(0.0) : 0.0;
  if (status == "Available") {
    if (!pool.available) pool.since_s = now_s;
    pool.available = true;
    return {};
  }
  if (status == "Reused") {
    gone = true;
    overhead_usd_ += usd_of(pool, retained_s);
    notice(
        fmt::format("the warm pool of job {} was taken by job {}, which has the same role, "
                    "instances and network",
                    pool.job, told->reused_by));
  } else if (status == "Terminated") {
    gone = true;
    overhead_usd_ += usd_of(pool, retained_s);
    if (!pool.available && retained_s == 0.0) {
      types_without_pools_.insert(pool.key.instance_type);
      notice_once(
          "no pool " + pool.key.instance_type,
          fmt::format("no warm pool was kept on {}: every trial will start cold. Ask for the "
                      "quota \"{} for training warm pool usage\", which is 0 by default",
                      pool.key.instance_type, pool.key.instance_type));
    }
  } else if (pool.available || now_s - pool.since_s > k_longest_settling_s) {
    gone = true;
  }
  return {};
}

Result<void> SageMakerRunner::look_at_pools() {
  const double now_s = clock_.now_s();
  if (pools_.empty() || now_s < next_pools_s_) return {};
  for (auto pool = pools_.begin(); pool != pools_.end();) {
    bool gone = false;
    // What is available stays so until it is used, given back, or has outlived its time.
    if (!pool->available || now_s - pool->since_s > options_.keep_alive_s) {
      if (auto looked = look_at(*pool, gone); !looked) return looked;
    }
    pool = gone ? pools_.erase(pool) : pool + 1;
  }
  next_pools_s_ = clock_.now_s() + options_.close_look_s;
  return {};
}

Result<void> SageMakerRunner::release_pool(const std::string& job) {
  const auto pool = std::ranges::find(pools_, job, &WarmPool::job);
  if (pool == pools_.end()) return {};
  const auto released = jobs_api_.set_keep_alive(job, 0);
  if (!released) return bear(released.error());
  const auto state = jobs_api_.describe(job);
  if (!state) return bear(state.error());
  answered();
  if (*state && (*state)->pool) {
    overhead_usd_ += usd_of(*pool, (*state)->pool->retained_s.value_or(0.0));
  }
  pools_.erase(pool);
  return {};
}

Result<void> SageMakerRunner::release_surplus() {
  const bool any_wait =
      std::ranges::any_of(jobs_, [](const JobInFlight& job) { return !job.submitted(); });
  std::vector<std::string> surplus;
  for (const WarmPool& pool : pools_) {
    if (!pool.available) continue;
    const bool unwanted = !any_wait && further_trials_ == 0;
    const bool idle = clock_.now_s() - pool.since_s > options_.idle_pool_s;
    if (unwanted || idle) surplus.push_back(pool.job);
  }
  for (const std::string& job : surplus) {
    if (auto released = release_pool(job); !released) return released;
  }
  return {};
}

Result<void> SageMakerRunner::find_former_pools() {
  const auto jobs = jobs_api_.list({prefix_, "Available", 0.0});
  if (!jobs) return tl::unexpected(jobs.error().to_error());
  for (const JobSummary& summary : *jobs) {
    const auto state = jobs_api_.describe(summary.name);
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state || !(*state)->pool || (*state)->pool->status != "Available") continue;
    const Json& config = (*state)->resources;
    const Resources resources{
        text_of(config, "InstanceType"), count_of(config, "InstanceCount").value_or(1), {}};
    const auto key = pool_key(options_.settings, resources);
    const auto price = options_.prices.usd_per_hour(resources);
    if (!key) continue;
    pools_.push_back({*key, summary.name, true, clock_.now_s(), price ? *price : 0.0});
  }
  return {};
}

}  // namespace steptune
