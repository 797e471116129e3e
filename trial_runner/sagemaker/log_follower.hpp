// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// A line of a job's output.
struct LogLine {
  std::string job;
  std::string host;     ///< `algo-1`, ...
  double wall_s = 0.0;  ///< time of printing, seconds since 1970
  std::string text;
};

/// Reads the CloudWatch logs of all jobs with a common name prefix, with one request for each page.
/// Events appear late and out of order. So each poll reads the last `k_longest_lag_s` seconds
/// again, and drops events that it knows by id. Source: CloudWatch Logs API Reference,
/// FilterLogEvents; group and stream names: SageMaker Developer Guide, "Log groups and streams".
class LogFollower {
 public:
  /// Reads events since `since_wall_s` (seconds since 1970). `client` outlives the object.
  LogFollower(aws::JsonClient& client, aws::JsonService service, std::string job_prefix,
              double since_wall_s);

  /// Makes `poll` also read output since `wall_s`, for jobs that began before this object.
  void reach_back_to(double wall_s);

  /// Returns new lines, oldest first. Returns none before the account's first job has printed,
  /// because the log group does not exist yet.
  [[nodiscard]] aws::AwsResult<std::vector<LogLine>> poll();

 private:
  aws::JsonClient& client_;
  aws::JsonService service_;
  std::string job_prefix_;
  double newest_ms_;
  std::map<std::string, double> seen_ms_;  ///< event id -> timestamp, within the overlap
};

}  // namespace steptune
