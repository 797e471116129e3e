// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

struct SageMakerOptions {
  JobSettings settings;
  PriceTable prices;       ///< prices of all types that trials may request
  PriceTable types;        ///< prices of further types, for advice
  int parallel = 1;        ///< largest number of sets of instances at a time, including pools
  int trials_per_job = 1;  ///< largest number of trials that one job runs in turn
  /// Largest number of trials that the loop may pass to the runner at a time. Has no effect if it
  /// is less than all jobs can run.
  int backlog = 1;
  /// Seconds after which the service frees an unused pool if the tuner has died; 0: no warm pools.
  /// A running tuner releases pools by its own rules.
  int keep_alive_s = 300;
  double idle_pool_s = 30.0;      ///< idle time after which the runner releases a pool
  double poll_interval_s = 5.0;   ///< time between two polls of running jobs, and of their logs
  double capacity_wait_s = 60.0;  ///< wait after a job without capacity; doubles each time
  int capacity_attempts = 4;
  double longest_outage_s = 900.0;  ///< length of an outage after which `wait` returns an error

  /// Time between two polls of jobs that are about to end, and of pools about to become available.
  [[nodiscard]] double close_poll_interval_s() const { return std::min(0.5, poll_interval_s); }
  /// Longest delay with which a program's last lines may arrive.
  [[nodiscard]] double log_delay_s() const { return 2.0 * poll_interval_s; }
};

}  // namespace steptune
