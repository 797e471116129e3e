// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace steptune::aws {

/// A rate of requests, and the largest number of requests at once.
struct RateLimit {
  double per_second = 1.0;
  double burst = 1.0;
};

/// One token bucket for each API operation. Only computes with times that the caller passes; it
/// neither waits nor reads a clock. Not thread safe.
class RateLimiter {
 public:
  /// `otherwise` is the limit of each operation that is not in `limits`.
  RateLimiter(std::map<std::string, RateLimit> limits, RateLimit otherwise);

  /// Reserves a request of `operation`. Returns the earliest time, at or after `now_s`, to send it.
  /// Requests of one operation keep their order.
  [[nodiscard]] double reserve_s(const std::string& operation, double now_s);

 private:
  struct Bucket {
    RateLimit limit;
    double tokens = 0.0;  ///< number at `updated_s`; negative if requests are reserved for later
    double updated_s = 0.0;
  };
  Bucket& bucket_for(const std::string& operation, double now_s);

  std::map<std::string, RateLimit> limits_;
  RateLimit otherwise_;
  std::map<std::string, Bucket> buckets_;
};

/// Returns a limiter with rates below the fixed account-wide limits of SageMaker's training-job
/// operations, which leave room for other programs. Limits: Create 1/s, Stop 1/s, Update 1/s,
/// Describe 5/s, List 2/s; not adjustable (AWS General Reference, "Amazon SageMaker endpoints and
/// quotas").
[[nodiscard]] RateLimiter sagemaker_rate_limiter();

}  // namespace steptune::aws
