// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>

namespace steptune::simulated {

/// Returns the fixed limits of an account in requests per second, by operation: SageMaker's
/// training jobs and, for most regions, CloudWatch Logs (AWS General Reference, service quotas).
/// Other operations are unlimited.
[[nodiscard]] std::map<std::string, double> account_request_rates();

/// Limits requests with one token bucket for each operation. A bucket holds at most the tokens of
/// one second. Times must not decrease. Not thread safe.
class RequestRates {
 public:
  explicit RequestRates(std::map<std::string, double> per_second);

  /// Returns false if the request must be refused (ThrottlingException, "Rate exceeded").
  [[nodiscard]] bool admit(const std::string& operation, double now_s);

  /// Returns the number of refused requests by operation.
  [[nodiscard]] const std::map<std::string, int>& refused() const { return refused_; }
  /// Returns the largest number of requests within any one second, by operation. Includes refused
  /// requests.
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
