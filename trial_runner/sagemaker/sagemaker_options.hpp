// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

struct SageMakerOptions {
  JobSettings settings;
  PriceTable prices;       ///< contains every type that trials may request
  PriceTable types;        ///< further types, for advice
  int parallel = 1;        ///< sets of instances held at a time, including pools
  int trials_per_job = 1;  ///< trials that one job may run in turn if they need equal machines
  /// Trials that may be handed over at a time, if that is more than all jobs can run.
  int backlog = 1;
  /// Seconds after which the service frees an unused pool if the tuner has died; 0: no warm pools.
  /// A running tuner releases pools by its own rules.
  int keep_alive_s = 300;
  double idle_pool_s = 30.0;      ///< a pool that no trial has used for this time is released
  double poll_interval_s = 5.0;   ///< time between two polls of running jobs, and of their logs
  double capacity_wait_s = 60.0;  ///< wait after a job found no capacity; doubles each time
  int capacity_attempts = 4;
  double longest_outage_s = 900.0;  ///< outage of the service after which `wait` fails

  /// Time between two polls of jobs that are about to end, and of pools about to become available.
  [[nodiscard]] double close_poll_interval_s() const { return std::min(0.5, poll_interval_s); }
  /// Longest delay with which a program's last lines may arrive.
  [[nodiscard]] double log_delay_s() const { return 2.0 * poll_interval_s; }
};

}  // namespace steptune
