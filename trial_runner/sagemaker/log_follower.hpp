// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// A line that a job has printed.
struct LogLine {
  std::string job;
  std::string host;     ///< `algo-1`, ...
  double wall_s = 0.0;  ///< when it was printed, seconds since 1970
  std::string text;
};

/// Follows the CloudWatch logs of all jobs whose names begin alike, with one request for all of
/// them. Events become visible late and out of order, so each poll reads an overlap again and drops
/// what it has seen by event id. Source: CloudWatch Logs API Reference, FilterLogEvents; group and
/// stream names: SageMaker Developer Guide, "Log groups and streams".
class LogFollower {
 public:
  /// How far behind the newest event others may still appear, seconds.
  static constexpr double k_overlap_s = 60.0;

  /// Events since `since_wall_s` (seconds since 1970) are told. `client` outlives the object.
  LogFollower(aws::JsonClient& client, aws::JsonService service, std::string job_prefix,
              double since_wall_s);

  /// Also reads what was printed since then: for jobs that began before this follower.
  void reach_back_to(double wall_s);

  /// New lines, oldest first. Before the first job has ever printed there is no log group: nothing.
  [[nodiscard]] aws::AwsResult<std::vector<LogLine>> poll();

 private:
  aws::JsonClient& client_;
  aws::JsonService service_;
  std::string job_prefix_;
  double newest_ms_;
  std::map<std::string, double> seen_ms_;  ///< event id -> timestamp, within the overlap
};

}  // namespace steptune
