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
  /// The longest that a pool outlives a tuner that dies; 0: no warm pools. While the tuner lives,
  /// it decides.
  int keep_alive_s = 300;
  double idle_s = 30.0;  ///< a pool that no trial was found for is released after this
  double look_s = 0.5;   ///< between looks at pools that are about to become available
};

/// The warm pools that a study's jobs leave behind, until a job takes them or they are released.
/// What they cost in vain is counted. Requests that fail for a while are made again at the next
/// call; errors are those of `Outage`.
class WarmPools {
 public:
  /// All outlive the object.
  WarmPools(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
            WarmPoolOptions options);

  /// A pool that an earlier tuner has left. Nothing is learned from it.
  void add_available(PoolKey key, std::string job, double usd_per_hour);
  /// The job has ended and leaves a pool, which becomes available in a moment, or never.
  void add_ended(PoolKey key, std::string job, double usd_per_hour);
  void clear() { pools_.clear(); }

  [[nodiscard]] const std::vector<WarmPool>& pools() const { return pools_; }
  [[nodiscard]] bool empty() const { return pools_.empty(); }
  /// How long a start is expected to take, given what is kept.
  [[nodiscard]] double expected_start_s(const std::optional<PoolKey>& key) const;
  /// A job took so long from its request to its program.
  void add_start(bool warm, double seconds) { start_times_.add(warm, seconds); }

  /// The keep-alive period to request for a job's pool. `wanted`: whether a trial may use it.
  [[nodiscard]] int keep_alive_s(const std::optional<PoolKey>& key, bool wanted) const;
  /// A job, `by`, was requested that is to take over the pool of `job`.
  void take(const std::string& job, const std::string& by);
  /// Once a launch has its machines: whether it got the pool that it was meant for, or another one
  /// that is equal, of which the service gives any: the bill of that is the trial's then. A pool
  /// that is still available is kept for others. Asks once, and again after a failure.
  [[nodiscard]] Result<void> settle(TrialJob& job);

  /// Looks at the pools whose state may have changed, if it is time.
  [[nodiscard]] Result<void> look();
  /// When `look` is due next; infinite without pools.
  [[nodiscard]] double next_look_s() const;

  /// Releases the pool of `job`. False if that has failed for now.
  [[nodiscard]] Result<bool> release(const std::string& job);
  /// Releases all that are available.
  [[nodiscard]] Result<void> release_available();
  /// Releases what has been idle for too long; without `wanted` all that are available.
  [[nodiscard]] Result<void> release_surplus(bool wanted);

  /// Pools that no trial of this study used and that are gone, since the last call.
  [[nodiscard]] std::vector<UnusedTime> take_unused();

 private:
  /// Left to a job that was requested. Whether that uses it shows once it has its machines.
  struct TakenPool {
    WarmPool pool;
    std::string by;
  };

  [[nodiscard]] bool is_known(const std::string& job) const;
  /// The jobs whose pools a launch meant for that of `job` may have got: that first.
  [[nodiscard]] std::vector<std::string> candidates(const std::string& job,
                                                    const PoolKey& key) const;
  /// The end where the pool of `job` is left to none.
  [[nodiscard]] std::vector<TakenPool>::iterator find_taken(const std::string& job);
  /// A launch that was meant for the pool of `job` has got that of `used`.
  void give(const std::string& job, const std::string& used);
  /// A launch that was requested at `requested_s` has not used the pool that it was meant for.
  void pass_on(const std::string& job, const PoolState& state, double requested_s);
  /// False: there is no such pool any more.
  [[nodiscard]] Result<bool> look_at(WarmPool& pool);
  void on_terminated(const WarmPool& pool, double retained_s);
  /// Machines that were kept for `retained_s`, from about `since_s` (runner's clock) on.
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
  std::set<std::string> types_without_pools_;  ///< the account has no quota for warm pools of these
  StartTimes start_times_;
  double idle_time_s_ = 24.0;  ///< that pools wait for their next trial: a guess, then as seen
  std::vector<UnusedTime> unused_;
  double next_look_s_ = 0.0;
};

}  // namespace steptune
