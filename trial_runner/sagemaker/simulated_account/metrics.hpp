// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/sagemaker/simulated_account/training_service.hpp"

namespace steptune::simulated {

/// CloudWatch's GetMetricData for CPUUtilization and GPUUtilization of hosts: percent of one core,
/// summed over a host's cores or accelerators, one delayed point a minute. No points for machines
/// whose cores are not in `AccountOptions::instances`.
[[nodiscard]] Answer<Json> get_metric_data(const TrainingService& service,
                                           const AccountOptions& options, double wall_minus_clock_s,
                                           const Json& request, double now_s);

}  // namespace steptune::simulated
