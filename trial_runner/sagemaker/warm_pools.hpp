// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/sagemaker/outage.hpp"
#include "trial_runner/sagemaker/pool_schedule.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/start_times.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune {

/// Warm pools of a study's jobs, until a job uses them or they are released. Counts the cost of
/// unused pools. After a transient failure, the next call repeats the request. Errors are those of
/// `Outage`.
class WarmPools {
 public:
  /// The arguments outlive the object.
  WarmPools(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
            const SageMakerOptions& options);

  /// Adds a pool of an earlier tuner, which was unused for `idle_before_s`. Gives it the whole idle
  /// limit from now on, so that a trial can use it.
  void add_available(PoolKey key, std::string job, double usd_per_hour, double idle_before_s);
  /// Adds the pool of a job that has ended. It becomes available soon, or never.
  void add_ended(PoolKey key, std::string job, double usd_per_hour);
  void clear() { pools_.clear(); }

  [[nodiscard]] const std::vector<WarmPool>& pools() const { return pools_; }
  [[nodiscard]] bool empty() const { return pools_.empty(); }
  /// Returns the expected seconds from a job's request to its program's start, given the pools.
  [[nodiscard]] double expected_start_s(const std::optional<PoolKey>& key) const;
  /// Records the seconds from a job's request to the start of its program.
  void add_start(bool warm, double seconds) { start_times_.add(warm, seconds); }

  /// Returns the keep-alive period to request for a job's pool. `wanted` is true if a trial may use
  /// the pool.
  [[nodiscard]] int keep_alive_s(const std::optional<PoolKey>& key, bool wanted) const;
  /// Records that job `by` was requested to take over the pool of `job`.
  void take(const std::string& job, const std::string& by);
  /// Finds out, once a job has its machines, if it uses the intended pool or another equal one (the
  /// service may assign any). The trial pays for the pool that its job uses. If the intended pool
  /// is still available, keeps it for other trials. Sends one request for each pool that the job
  /// may use, until it finds the right one. After a transient failure, call this again.
  [[nodiscard]] Result<void> settle(TrialJob& job);

  /// If a poll is due, updates pools whose state may have changed.
  [[nodiscard]] Result<void> poll();
  /// Returns the time of the next due `poll`; infinite without pools.
  [[nodiscard]] double next_poll_s() const;

  /// Releases the pool of `job`. Returns false if that failed for now.
  [[nodiscard]] Result<bool> release(const std::string& job);
  /// Releases all available pools.
  [[nodiscard]] Result<void> release_available();
  /// Releases pools that were idle for too long; all available ones unless `wanted`.
  [[nodiscard]] Result<void> release_surplus(bool wanted);

  /// Returns idle time of pools that have gone since the last call without use by a trial of this
  /// study.
  [[nodiscard]] std::vector<UnusedTime> take_unused();

 private:
  /// A pool intended for the requested job `by`. Once the job has its machines, the runner learns
  /// if it uses this pool.
  struct TakenPool {
    WarmPool pool;
    std::string by;
  };

  [[nodiscard]] bool is_known(const std::string& job) const;
  /// Returns the seconds for which the pool has been unused, also before this tuner found it.
  [[nodiscard]] double unused_s(const WarmPool& pool) const {
    return pool.idle_before_s + clock_.now_s() - pool.since_s;
  }
  /// Returns the jobs whose pools the service may have assigned instead of the pool of `job`; `job`
  /// first.
  [[nodiscard]] std::vector<std::string> candidates(const std::string& job,
                                                    const PoolKey& key) const;
  /// True if `job` was requested for a pool, and `settle` has not found out yet which one it uses.
  /// A pool that it uses then waits in `taken_` for `settle`.
  [[nodiscard]] bool awaits_pool(const std::string& job) const;
  /// Returns the end iterator if the pool of `job` is intended for no job.
  [[nodiscard]] std::vector<TakenPool>::iterator find_taken(const std::string& job);
  /// Records that a job that was meant to use the pool of `job` uses the pool of `used`.
  void give(const std::string& job, const std::string& used);
  /// Makes the pool of `job` free again, after a job requested at `requested_s` has not used it. If
  /// the pool is gone, counts its cost.
  void pass_on(const std::string& job, const PoolState& state, double requested_s);
  /// Returns false if the pool no longer exists.
  [[nodiscard]] Result<bool> poll_one(WarmPool& pool);
  void on_terminated(const WarmPool& pool, double retained_s);
  /// Counts machines that were kept unused for `retained_s`, from about `since_s` (runner's clock)
  /// on.
  void count_unused(const std::string& job, double since_s, double retained_s, double usd_per_hour);
  void count_unused(const WarmPool& pool, double retained_s) {
    count_unused(pool.job, pool.since_s, retained_s, pool.usd_per_hour);
  }

  const Clock& clock_;
  TrainingJobs& jobs_;
  Outage& outage_;
  Notices& notices_;
  const SageMakerOptions& options_;
  std::vector<WarmPool> pools_;
  std::vector<TakenPool> taken_;
  /// Types for which the account has no warm-pool quota.
  std::set<std::string> types_without_pools_;
  StartTimes start_times_;
  /// Seconds for which pools wait for their next trial: first a guess, then as measured.
  double idle_time_s_ = 24.0;
  std::vector<UnusedTime> unused_;
  double next_poll_s_ = 0.0;
};

}  // namespace steptune
