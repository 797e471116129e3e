// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"

namespace steptune {

/// Looks at how ended jobs have used their machines once the metrics can be there, and tells what
/// follows from it, each advice once. It never fails: without metrics there is no advice.
class UtilisationWatch {
 public:
  /// From a job's end until CloudWatch has its last minutes.
  static constexpr double k_metrics_delay_s = 300.0;
  /// After so many failures in a row no more is asked for.
  static constexpr int k_most_failures = 3;

  /// `client` outlives the object.
  UtilisationWatch(aws::JsonClient& client, aws::JsonService cloudwatch)
      : client_(client), cloudwatch_(std::move(cloudwatch)) {}

  /// A job that has ended at `ended_s`, runner's clock. Of those that trained for less than
  /// `k_shortest_measured_s` no metrics are asked for; only their downloads are looked at.
  void add(EndedJob job, double ended_s, const PriceTable& types);

  /// New advice from jobs whose metrics are there by now, with one request for all of them.
  /// `last`: from all that are left.
  [[nodiscard]] std::vector<std::string> look(double now_s, const PriceTable& types,
                                              bool last = false);

 private:
  void consider(const JobUtilisation& job, const PriceTable& types);
  void ask(const std::vector<EndedJob>& jobs, const PriceTable& types);

  struct Pending {
    EndedJob job;
    double ended_s = 0.0;
  };

  aws::JsonClient& client_;
  aws::JsonService cloudwatch_;
  std::vector<Pending> pending_;
  std::vector<std::string> news_;  ///< not told yet
  std::set<std::string> told_;
  int failures_ = 0;  ///< in a row
};

}  // namespace steptune
