// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"

namespace steptune {

struct SageMakerOptions {
  JobSettings settings;
  PriceTable prices;       ///< knows every type that trials may ask for
  PriceTable types;        ///< what else there is, for advice
  int parallel = 1;        ///< sets of instances held at a time, kept ones included
  int backlog = 1;         ///< trials that may be handed over at a time; at least `parallel`
  int trials_per_job = 1;  ///< that a job may run in turn, where they need the same machine
  /// The longest that a pool outlives a tuner that dies; 0: no warm pools. While the tuner lives,
  /// it decides.
  int keep_alive_s = 300;
  double idle_pool_s = 30.0;  ///< a pool that nothing was found for is released after this
  double look_s = 5.0;        ///< between looks at running jobs
  double close_look_s = 0.5;  ///< between looks at what is about to end or to become available
  double read_logs_s = 5.0;
  double log_delay_s = 10.0;      ///< that a program's last lines may be late
  double quota_wait_s = 30.0;     ///< before a job that met a quota is tried again
  double capacity_wait_s = 60.0;  ///< likewise for capacity; doubles each time
  int capacity_attempts = 4;
  double longest_outage_s = 900.0;  ///< of the service, before `wait` fails
};

}  // namespace steptune
