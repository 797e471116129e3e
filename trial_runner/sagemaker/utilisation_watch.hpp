// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/cloudwatch.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

/// Reads the utilisation of ended jobs' machines when CloudWatch should have it, and derives
/// advice. Gives each advice only once. Ignores failures, but reports denied access once.
class UtilisationWatch {
 public:
  /// Seconds from a job's end until CloudWatch has the metrics of its last minutes.
  static constexpr double k_metrics_delay_s = 5.0 * k_metric_period_s;

  /// `types` are the sizes and prices of instance types. The references outlive the object.
  UtilisationWatch(aws::JsonClient& client, aws::JsonService cloudwatch, const PriceTable& types)
      : client_(client), cloudwatch_(std::move(cloudwatch)), types_(types) {}

  /// Adds a job that ended at `ended_s` (runner's clock). Reads no metrics of jobs that trained for
  /// less than two metric periods, and none after `k_lasting_failures`. Such jobs give advice only
  /// on their download.
  void add(EndedJob job, double ended_s);

  /// Returns new advice about jobs whose metrics should be available; reads the metrics with one
  /// request for all jobs. If `last` is true, reads the metrics of all remaining jobs.
  [[nodiscard]] std::vector<std::string> poll(double now_s, bool last = false);

 private:
  void consider(const JobUtilisation& job);
  void ask(const std::vector<EndedJob>& jobs);

  struct Pending {
    EndedJob job;
    double ended_s = 0.0;
  };

  aws::JsonClient& client_;
  aws::JsonService cloudwatch_;
  const PriceTable& types_;
  std::vector<Pending> pending_;
  std::vector<std::string> news_;  ///< advice not returned yet
  std::set<std::string> reported_topics_;
  int failures_ = 0;  ///< in a row
};

}  // namespace steptune
