// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/cloudwatch.hpp"

namespace steptune {

/// A job that has ended. Times are seconds since 1970.
struct EndedJob {
  std::string job;
  Resources resources;
  double training_since_wall_s = 0.0;
  double training_until_wall_s = 0.0;
  double downloading_s = 0.0;
  std::string input_mode;  ///< `File`, `FastFile`, `Pipe`
};

/// Utilisation of a job's machines of one type, as shares (0 to 1) of a machine's cores,
/// accelerators, memory or disk. nullopt: CloudWatch has no values, or the type's size is unknown.
struct MachineUtilisation {
  std::string instance_type;
  int count = 1;
  InstanceType size;
  std::optional<double> cpu;       ///< median over minutes and machines
  std::optional<double> cpu_most;  ///< maximum over minutes and machines
  std::optional<double> gpu;       ///< median
  std::optional<double> gpu_most;  ///< maximum
  std::optional<double> gpu_memory_most;
  std::optional<double> memory_most;
  std::optional<double> disk_most;
};

struct JobUtilisation {
  EndedJob job;
  std::vector<MachineUtilisation> machines;  ///< one entry for each type
};

/// Most metrics that CloudWatch accepts in one request. A machine has five.
inline constexpr std::size_t k_most_metrics = 500;

/// Returns the utilisation of all `jobs`. Makes one request for each page, without retries, because
/// the advice is not worth a delay. Leaves out the first job whose metrics would exceed
/// `k_most_metrics`, and all jobs after it. Divides sums over cores and accelerators by the counts
/// in `sizes`. Source: SageMaker Developer Guide, "SageMaker AI jobs and endpoint metrics"
/// (namespace `/aws/sagemaker/TrainingJobs`, dimension `Host`); CloudWatch API Reference,
/// GetMetricData.
[[nodiscard]] aws::AwsResult<std::vector<JobUtilisation>> read_utilisation(
    aws::JsonClient& client, const aws::JsonService& cloudwatch, const std::vector<EndedJob>& jobs,
    const PriceTable& sizes);

}  // namespace steptune
