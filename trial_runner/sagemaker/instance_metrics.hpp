// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

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

/// What the machines of one type did during a job, as shares of all their cores, accelerators,
/// memory, disk (0 to 1). Nothing: not told, or the type's size is not known.
struct MachineUtilisation {
  std::string instance_type;
  int count = 1;
  InstanceType size;
  std::optional<double> cpu;       ///< median over minutes and machines
  std::optional<double> cpu_most;  ///< most in any minute
  std::optional<double> gpu;       ///< median
  std::optional<double> gpu_most;  ///< most
  std::optional<double> gpu_memory_most;
  std::optional<double> memory_most;
  std::optional<double> disk_most;
};

struct JobUtilisation {
  EndedJob job;
  std::vector<MachineUtilisation> machines;  ///< one for each type
};

/// Jobs that trained for less have a metric point or none: CloudWatch keeps one a minute.
inline constexpr double k_shortest_measured_s = 120.0;
/// CloudWatch takes so many metrics in one request; a machine has five.
inline constexpr std::size_t k_most_metrics = 500;

/// How the machines of all `jobs` were used, with one request (and those for further pages), tried
/// once: diagnosis is not worth waiting for. Jobs beyond `k_most_metrics` are left out. Sums over
/// cores and accelerators are divided by the counts of `sizes`. Source: SageMaker Developer Guide,
/// "SageMaker AI jobs and endpoint metrics" (namespace `/aws/sagemaker/TrainingJobs`, dimension
/// `Host`); CloudWatch API Reference, GetMetricData.
[[nodiscard]] aws::AwsResult<std::vector<JobUtilisation>> read_utilisation(
    aws::JsonClient& client, const aws::JsonService& cloudwatch, const std::vector<EndedJob>& jobs,
    const PriceTable& sizes);

}  // namespace steptune
