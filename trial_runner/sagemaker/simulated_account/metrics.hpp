// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/sagemaker/simulated_account/training_service.hpp"

namespace steptune::simulated {

/// Answers CloudWatch's GetMetricData for CPUUtilization and GPUUtilization of hosts. Values are
/// percent of one core or accelerator, summed over the host. Each minute gives one point, which
/// appears late. Has no points for machines whose cores are not in `AccountOptions::instances`.
[[nodiscard]] Answer<Json> get_metric_data(const TrainingService& service,
                                           const AccountOptions& options, double wall_minus_clock_s,
                                           const Json& request, double now_s);

}  // namespace steptune::simulated
