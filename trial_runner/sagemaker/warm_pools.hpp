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
/// unused pools. After a transient failure, the next call repeats the request. Returns the errors
/// of `Outage`.
class WarmPools {
 public:
  /// The arguments outlive the object.
  WarmPools(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
            const SageMakerOptions& options);

  /// Adds a pool of an earlier tuner, which was unused for `idle_before_s`. Its idle limit starts
  /// now, so that a trial can use it.
  void add_available(PoolKey key, std::string job, double usd_per_hour, double idle_before_s);
  /// Adds the pool of a job that has ended. It becomes available soon, or never.
  void add_ended(PoolKey key, std::string job, double usd_per_hour);
  void clear() { pools_.clear(); }

  [[nodiscard]] const std::vector<WarmPool>& pools() const { return pools_; }
  [[nodiscard]] bool empty() const { return pools_.empty(); }
  /// Returns the expected seconds from a job's request to its program's start. A pool of the same
  /// key shortens them.
  [[nodiscard]] double expected_start_s(const std::optional<PoolKey>& key) const;
  /// Records the seconds from a job's request to the start of its program.
  void add_start(bool warm, double seconds) { start_times_.add(warm, seconds); }

  /// Returns the keep-alive period to request for a job's pool. `wanted` is true if a trial may use
  /// the pool.
  [[nodiscard]] int keep_alive_s(const std::optional<PoolKey>& key, bool wanted) const;
  /// Records that job `by` was requested to take over the pool of `job`.
  void take(const std::string& job, const std::string& by);
  /// Finds the pool that a job uses, once it has its machines. The service may assign another equal
  /// pool than the intended one. The trial pays for the idle time of the pool that its job uses. If
  /// the intended pool is still available, keeps it for other trials. Sends one request for each
  /// pool that the job may use, until it finds the right one. After a transient failure, call this
  /// again.
  [[nodiscard]] Result<void> settle(TrialJob& job);

  /// If a poll is due, updates pools whose state may have changed.
  [[nodiscard]] Result<void> poll();
  /// Returns the time of the next due `poll`; infinite without pools.
  [[nodiscard]] double next_poll_s() const;

  /// Releases the pool of `job`. Returns false after a transient failure.
  [[nodiscard]] Result<bool> release(const std::string& job);
  /// Releases all available pools.
  [[nodiscard]] Result<void> release_available();
  /// Releases pools that were idle for too long. If pools are not `wanted`, releases all available
  /// pools.
  [[nodiscard]] Result<void> release_surplus(bool wanted);

  /// Returns the idle time of pools that ended since the last call, if no trial of this study used
  /// them.
  [[nodiscard]] std::vector<UnusedTime> take_unused();

 private:
  /// A pool that the requested job `by` is intended to use. When the job has its machines, `settle`
  /// finds out if it uses this pool.
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
  /// True if `job` was requested for a pool, and `settle` has not found its pool yet. Until then,
  /// the pool that the job uses waits in `taken_`.
  [[nodiscard]] bool awaits_pool(const std::string& job) const;
  /// Returns the pool of `job`; the end iterator if it is intended for no job.
  [[nodiscard]] std::vector<TakenPool>::iterator find_taken(const std::string& job);
  /// Records that a job uses the pool of `used`, although it was intended to use the pool of `job`.
  void give(const std::string& job, const std::string& used);
  /// Makes the pool of `job` free again, after a job requested at `requested_s` has not used it. If
  /// the pool is gone, counts its cost.
  void pass_on(const std::string& job, const PoolState& state, double requested_s);
  /// Returns false if the pool no longer exists.
  [[nodiscard]] Result<bool> poll_one(WarmPool& pool);
  void on_terminated(const WarmPool& pool, double retained_s);
  /// Counts the cost of machines that were unused for `retained_s`, from about `since_s` (runner's
  /// clock) on.
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
  /// Estimated seconds for which a pool waits for its next trial: first a guess, then from measured
  /// waits.
  double idle_time_s_ = 24.0;
  std::vector<UnusedTime> unused_;
  double next_poll_s_ = 0.0;
};

}  // namespace steptune
