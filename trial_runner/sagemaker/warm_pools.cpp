// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/warm_pools.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "trial_runner/cost/usage_cost.hpp"

namespace steptune {
namespace {

/// The keep-alive period is this many seconds plus a multiple of the usual wait. A tuner that is
/// silent for less than that may only be slow.
constexpr double k_least_keep_alive_s = 60.0;
constexpr double k_idle_times_kept = 10.0;
/// Longest time until a pool appears, in seconds. It appears within seconds of its job's end, or
/// never.
constexpr double k_longest_settling_s = 120.0;
/// The same, in seconds, if the service reports no pool for the job at all. A service with pools
/// reports the pool as in use while the job runs. An emulator without pools reports none.
constexpr double k_longest_unreported_s = 10.0;

std::string why_cold(std::int64_t trial, const std::string& pool_job, const PoolState& pool) {
  if (!pool.reused_by.empty()) {
    return fmt::format(
        "trial {} started cold: the warm pool of job {} was taken by job {}, which has the same "
        "role, instances and network",
        trial, pool_job, pool.reused_by);
  }
  if (pool.status == "Available") {
    return fmt::format(
        "trial {} started cold: SageMaker did not use the warm pool of job {} for it", trial,
        pool_job);
  }
  return fmt::format(
      "trial {} started cold: the warm pool of job {} ended before the trial could use it ({})",
      trial, pool_job, pool.status);
}

}  // namespace

WarmPools::WarmPools(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
                     const SageMakerOptions& options)
    : clock_(clock), jobs_(jobs), outage_(outage), notices_(notices), options_(options) {}

bool WarmPools::is_known(const std::string& job) const {
  return std::ranges::find(pools_, job, &WarmPool::job) != pools_.end();
}

void WarmPools::add_available(PoolKey key, std::string job, double usd_per_hour,
                              double idle_before_s) {
  pools_.push_back(
      {std::move(key), std::move(job), true, clock_.now_s(), usd_per_hour, idle_before_s});
}

void WarmPools::add_ended(PoolKey key, std::string job, double usd_per_hour) {
  // If the job ended before this tuner started, its pool may already be known.
  if (is_known(job)) return;
  pools_.push_back({std::move(key), std::move(job), false, clock_.now_s(), usd_per_hour});
  next_poll_s_ = clock_.now_s();
}

double WarmPools::expected_start_s(const std::optional<PoolKey>& key) const {
  const bool warm = key && options_.keep_alive_s > 0 &&
                    std::ranges::find(pools_, *key, &WarmPool::key) != pools_.end();
  return start_times_.expected_s(warm);
}

int WarmPools::keep_alive_s(const std::optional<PoolKey>& key, bool wanted) const {
  if (!wanted || !key || types_without_pools_.contains(key->instance_type)) return 0;
  const double chosen_s = k_least_keep_alive_s + k_idle_times_kept * idle_time_s_;
  return std::min(options_.keep_alive_s, static_cast<int>(chosen_s));
}

void WarmPools::take(const std::string& job, const std::string& by) {
  const auto used = std::ranges::find(pools_, job, &WarmPool::job);
  if (used == pools_.end()) return;
  // A single short wait lowers the estimate at most by half.
  idle_time_s_ = std::max(unused_s(*used), 0.5 * idle_time_s_);
  taken_.push_back({std::move(*used), by});
  pools_.erase(used);
}

std::vector<std::string> WarmPools::candidates(const std::string& job, const PoolKey& key) const {
  std::vector<std::string> found{job};
  for (const WarmPool& pool : pools_) {
    if (pool.available && pool.key == key) found.push_back(pool.job);
  }
  for (const TakenPool& taken : taken_) {
    if (taken.pool.key == key && taken.pool.job != job) found.push_back(taken.pool.job);
  }
  return found;
}

bool WarmPools::awaits_pool(const std::string& job) const {
  return std::ranges::find(taken_, job, &TakenPool::by) != taken_.end();
}

std::vector<WarmPools::TakenPool>::iterator WarmPools::find_taken(const std::string& job) {
  return std::ranges::find(taken_, job, [](const TakenPool& taken) { return taken.pool.job; });
}

void WarmPools::give(const std::string& job, const std::string& used) {
  std::erase_if(pools_, [&](const WarmPool& pool) { return pool.job == used; });
  const auto taken = find_taken(used);
  if (taken == taken_.end()) return;
  // The job for which that pool was intended may then get this job's intended pool.
  const auto left = find_taken(job);
  if (left != taken_.end()) left->by = taken->by;
  taken_.erase(taken);
}

void WarmPools::pass_on(const std::string& job, const PoolState& state, double requested_s) {
  const auto taken = find_taken(job);
  // If the pool is no longer in `taken_`, a job of this study already uses it.
  if (taken == taken_.end()) return;
  if (state.status == "Available") {
    pools_.push_back(std::move(taken->pool));
  } else {
    if (awaits_pool(state.reused_by)) return;  // `settle` for that job decides later
    const double retained_s = state.retained_s.value_or(0.0);
    count_unused(job, requested_s - retained_s, retained_s, taken->pool.usd_per_hour);
  }
  taken_.erase(taken);
}

Result<void> WarmPools::settle(TrialJob& job) {
  const JobLaunch& launch = job.launch();
  if (launch.pool_settled) return {};
  const std::string meant = *launch.pool_job;
  PoolState of_meant;
  for (const std::string& candidate : candidates(meant, *job.pool_key())) {
    const auto former = jobs_.describe(candidate);
    if (!former) return outage_.on_failure(former.error());
    outage_.on_success();
    const auto pool = *former ? (*former)->pool : std::nullopt;
    if (candidate == meant && pool) of_meant = *pool;
    // If the service reports no pool, assume that the job used the intended pool.
    const bool reused = pool ? pool->reused_by == launch.job : candidate == meant;
    if (!reused) continue;
    const double retained_s = pool ? pool->retained_s.value_or(0.0) : 0.0;
    job.add_pool_bill(usage_usd(job.usd_per_hour(), retained_s));
    give(meant, candidate);
    if (candidate != meant) pass_on(meant, of_meant, launch.requested_s);
    job.settle_pool(/*reused=*/true);
    return {};
  }
  pass_on(meant, of_meant, launch.requested_s);
  job.settle_pool(/*reused=*/false);
  notices_.add(why_cold(job.key().trial, meant, of_meant), job.key().trial);
  return {};
}

void WarmPools::count_unused(const std::string& job, double since_s, double retained_s,
                             double usd_per_hour) {
  if (retained_s <= 0.0) return;
  // The service reports only the length of the idle time. It began at the end of the pool's job:
  // seconds before the pool became available, or long before if an earlier tuner left the pool.
  const double ago_s = std::max(0.0, clock_.now_s() - since_s - retained_s);
  const double to_wall_s = clock_.wall_time_s() - ago_s;
  unused_.push_back({job, to_wall_s - retained_s, to_wall_s, usage_usd(usd_per_hour, retained_s)});
}

void WarmPools::on_terminated(const WarmPool& pool, double retained_s) {
  count_unused(pool, retained_s);
  if (pool.available || retained_s > 0.0) return;
  const std::string& type = pool.key.instance_type;
  types_without_pools_.insert(type);
  notices_.add_once("no pool " + type,
                    fmt::format("no warm pool was kept on {}: each trial starts cold. Request the "
                                "quota \"{} for training warm pool usage\" (default 0)",
                                type, type));
}

Result<bool> WarmPools::poll_one(WarmPool& pool) {
  const double now_s = clock_.now_s();
  const auto state = jobs_.describe(pool.job);
  if (!state) {
    if (auto failed = outage_.on_failure(state.error()); !failed) {
      return tl::unexpected(failed.error());
    }
    return true;
  }
  outage_.on_success();
  const auto pool_status = *state ? (*state)->pool : std::nullopt;
  const std::string status = pool_status ? pool_status->status : std::string();
  const double retained_s = pool_status ? pool_status->retained_s.value_or(0.0) : 0.0;
  if (status == "Available") {
    if (!pool.available) pool.since_s = now_s;
    pool.available = true;
    return true;
  }
  if (status == "Reused") {
    if (awaits_pool(pool_status->reused_by)) {
      taken_.push_back({std::move(pool), pool_status->reused_by});
      return false;
    }
    count_unused(pool, retained_s);
    notices_.add(
        fmt::format("the warm pool of job {} was taken by job {}, which has the same role, "
                    "instances and network",
                    pool.job, pool_status->reused_by));
    return false;
  }
  if (status == "Terminated") {
    on_terminated(pool, retained_s);
    return false;
  }
  const double longest_s = pool_status ? k_longest_settling_s : k_longest_unreported_s;
  return !pool.available && now_s - pool.since_s <= longest_s;
}

Result<void> WarmPools::poll() {
  const double now_s = clock_.now_s();
  if (pools_.empty() || now_s < next_poll_s_) return {};
  for (auto pool = pools_.begin(); pool != pools_.end();) {
    bool remains = true;
    // An available pool changes only if a job uses it, if it is released, or if its keep-alive
    // period ends.
    if (!pool->available || unused_s(*pool) > options_.keep_alive_s) {
      const auto polled = poll_one(*pool);
      if (!polled) return tl::unexpected(polled.error());
      remains = *polled;
    }
    pool = remains ? pool + 1 : pools_.erase(pool);
  }
  next_poll_s_ = clock_.now_s() + options_.close_poll_interval_s();
  return {};
}

double WarmPools::next_poll_s() const {
  return pools_.empty() ? k_infinity : next_poll_s_;
}

Result<bool> WarmPools::release(const std::string& job) {
  const auto pool = std::ranges::find(pools_, job, &WarmPool::job);
  if (pool == pools_.end()) return true;
  const auto later = [&](const aws::AwsError& error) -> Result<bool> {
    if (auto failed = outage_.on_failure(error); !failed) return tl::unexpected(failed.error());
    return false;
  };
  const auto released = jobs_.set_keep_alive(job, 0);
  if (!released) return later(released.error());
  const auto state = jobs_.describe(job);
  if (!state) return later(state.error());
  outage_.on_success();
  if (const auto last = *state ? (*state)->pool : std::nullopt) {
    if (awaits_pool(last->reused_by)) {
      taken_.push_back({std::move(*pool), last->reused_by});
    } else {
      count_unused(*pool, last->retained_s.value_or(0.0));
    }
  }
  pools_.erase(pool);
  return true;
}

Result<void> WarmPools::release_available() {
  for (const WarmPool& pool : std::vector<WarmPool>(pools_)) {
    if (!pool.available) continue;
    if (auto released = release(pool.job); !released) return tl::unexpected(released.error());
  }
  return {};
}

Result<void> WarmPools::release_surplus(bool wanted) {
  if (!wanted) return release_available();
  const double now_s = clock_.now_s();
  for (const WarmPool& pool : std::vector<WarmPool>(pools_)) {
    if (!pool.available || now_s - pool.since_s <= options_.idle_pool_s) continue;
    if (auto released = release(pool.job); !released) return tl::unexpected(released.error());
  }
  return {};
}

std::vector<UnusedTime> WarmPools::take_unused() {
  return std::exchange(unused_, {});
}

}  // namespace steptune
