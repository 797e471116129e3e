// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

struct SageMakerOptions {
  JobSettings settings;
  PriceTable prices;       ///< contains every type that trials may request
  PriceTable types;        ///< other types, for advice
  int parallel = 1;        ///< sets of instances held at a time, including pools
  int backlog = 1;         ///< trials that may be handed over at a time; at least `parallel`
  int trials_per_job = 1;  ///< trials that one job may run in turn if they need equal machines
  /// Longest time that a pool outlives a dead tuner; 0: no warm pools. A living tuner decides
  /// itself.
  int keep_alive_s = 300;
  double idle_pool_s = 30.0;  ///< a pool that no trial has used for this time is released
  double look_s = 5.0;        ///< gap between looks at running jobs
  /// Gap between looks at jobs about to end and pools about to become available.
  double close_look_s = 0.5;
  double read_logs_s = 5.0;
  double log_delay_s = 10.0;      ///< how late the last lines of a program may arrive
  double quota_wait_s = 30.0;     ///< wait before a job that exceeded a quota is tried again
  double capacity_wait_s = 60.0;  ///< wait after missing capacity; doubles each time
  int capacity_attempts = 4;
  double longest_outage_s = 900.0;  ///< outage of the service after which `wait` fails
};

}  // namespace steptune
