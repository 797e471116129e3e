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
#include "trial_runner/sagemaker/start_times.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune {

struct WarmPoolOptions {
  /// Longest time that a pool outlives a dead tuner; 0: no warm pools. A living tuner decides
  /// itself.
  int keep_alive_s = 300;
  double idle_s = 30.0;  ///< a pool that no trial has used for this time is released
  double look_s = 0.5;   ///< gap between looks at pools that are about to become available
};

/// Warm pools of a study's jobs, until a job takes them or they are released. Counts the cost of
/// unused ones. Transiently failing requests are repeated at the next call. Errors are those of
/// `Outage`.
class WarmPools {
 public:
  /// The arguments outlive the object.
  WarmPools(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
            WarmPoolOptions options);

  /// Adds a pool of an earlier tuner. Waiting times are not learned from it.
  void add_available(PoolKey key, std::string job, double usd_per_hour);
  /// Adds the pool of a job that has ended. It becomes available soon, or never.
  void add_ended(PoolKey key, std::string job, double usd_per_hour);
  void clear() { pools_.clear(); }

  [[nodiscard]] const std::vector<WarmPool>& pools() const { return pools_; }
  [[nodiscard]] bool empty() const { return pools_.empty(); }
  /// Returns the expected start time of a job, given the pools.
  [[nodiscard]] double expected_start_s(const std::optional<PoolKey>& key) const;
  /// Records how long a job took from its request to its program.
  void add_start(bool warm, double seconds) { start_times_.add(warm, seconds); }

  /// Returns the keep-alive period to request for a job's pool. `wanted`: a trial may use the pool.
  [[nodiscard]] int keep_alive_s(const std::optional<PoolKey>& key, bool wanted) const;
  /// Records that job `by` was requested to take over the pool of `job`.
  void take(const std::string& job, const std::string& by);
  /// Finds out, when a launch has its machines, whether it got the intended pool or another equal
  /// one (the service may assign any). The cost of the used pool goes to the trial. If the intended
  /// pool is still available, it is kept for other trials. Asks once, and again after a failure.
  [[nodiscard]] Result<void> settle(TrialJob& job);

  /// Updates pools whose state may have changed, if due.
  [[nodiscard]] Result<void> look();
  /// Returns the time of the next due `look`; infinite without pools.
  [[nodiscard]] double next_look_s() const;

  /// Releases the pool of `job`. Returns false if that failed for now.
  [[nodiscard]] Result<bool> release(const std::string& job);
  /// Releases all available pools.
  [[nodiscard]] Result<void> release_available();
  /// Releases pools that were idle for too long; all available ones unless `wanted`.
  [[nodiscard]] Result<void> release_surplus(bool wanted);

  /// Returns, since the last call, pools that are gone and that no trial of this study used.
  [[nodiscard]] std::vector<UnusedTime> take_unused();

 private:
  /// A pool intended for a requested job. Once the job has its machines, it is known whether it
  /// used it.
  struct TakenPool {
    WarmPool pool;
    std::string by;
  };

  [[nodiscard]] bool is_known(const std::string& job) const;
  /// Returns the jobs whose pool a launch intended for `job`'s pool may have got; `job` first.
  [[nodiscard]] std::vector<std::string> candidates(const std::string& job,
                                                    const PoolKey& key) const;
  /// Returns the end iterator if the pool of `job` is intended for no job.
  [[nodiscard]] std::vector<TakenPool>::iterator find_taken(const std::string& job);
  /// Records that a launch intended for the pool of `job` has got that of `used`.
  void give(const std::string& job, const std::string& used);
  /// Frees the intended pool after a launch, requested at `requested_s`, has not used it. If the
  /// pool is gone, counts its cost.
  void pass_on(const std::string& job, const PoolState& state, double requested_s);
  /// Returns false if the pool no longer exists.
  [[nodiscard]] Result<bool> look_at(WarmPool& pool);
  void on_terminated(const WarmPool& pool, double retained_s);
  /// Counts machines that were kept unused for `retained_s`, from about `since_s` (runner's clock)
  /// on.
  void count_in_vain(const std::string& job, double since_s, double retained_s,
                     double usd_per_hour);
  void count_in_vain(const WarmPool& pool, double retained_s) {
    count_in_vain(pool.job, pool.since_s, retained_s, pool.usd_per_hour);
  }

  const Clock& clock_;
  TrainingJobs& jobs_;
  Outage& outage_;
  Notices& notices_;
  WarmPoolOptions options_;
  std::vector<WarmPool> pools_;
  std::vector<TakenPool> taken_;
  /// Types for which the account has no warm-pool quota.
  std::set<std::string> types_without_pools_;
  StartTimes start_times_;
  /// Wait of pools for their next trial: first a guess, then as measured.
  double idle_time_s_ = 24.0;
  std::vector<UnusedTime> unused_;
  double next_look_s_ = 0.0;
};

}  // namespace steptune
