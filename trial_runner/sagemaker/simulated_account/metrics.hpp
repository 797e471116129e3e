// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/sagemaker/simulated_account/training_service.hpp"

namespace steptune::simulated {

/// CloudWatch's GetMetricData over CPUUtilization and GPUUtilization of hosts: percent of one core,
/// summed over a host's cores or accelerators, one point a minute, late. Machines whose cores
/// `AccountOptions::instances` does not tell have no points.
[[nodiscard]] Answer<Json> get_metric_data(const TrainingService& service,
                                           const AccountOptions& options, double wall_less_clock_s,
                                           const Json& request, double now_s);

}  // namespace steptune::simulated
