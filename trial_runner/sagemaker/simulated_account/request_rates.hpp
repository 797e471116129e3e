// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>

namespace steptune::simulated {

/// Requests per second by operation, fixed for an account: SageMaker's training jobs and, for most
/// regions, CloudWatch Logs (AWS General Reference, service quotas). Others are not limited.
[[nodiscard]] std::map<std::string, double> account_request_rates();

/// Admits requests: a token bucket per operation that holds one second's worth. Times never go
/// back. Not thread safe.
class RequestRates {
 public:
  explicit RequestRates(std::map<std::string, double> per_second);

  /// False: the request is to be refused (ThrottlingException, "Rate exceeded").
  [[nodiscard]] bool admit(const std::string& operation, double now_s);

  /// How many were refused, by operation.
  [[nodiscard]] const std::map<std::string, int>& refused() const { return refused_; }
  /// The most requests, refused ones included, that came within any one second, by operation.
  [[nodiscard]] const std::map<std::string, int>& most_per_second() const { return most_; }

 private:
  struct Bucket {
    double tokens = 0.0;
    double updated_s = 0.0;
  };
  void observe(const std::string& operation, double now_s);

  std::map<std::string, double> per_second_;
  std::map<std::string, Bucket> buckets_;
  std::map<std::string, std::deque<double>> recent_;  ///< times of the last second
  std::map<std::string, int> refused_;
  std::map<std::string, int> most_;
};

}  // namespace steptune::simulated
