// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/rate_limiter.hpp"

#include <algorithm>
#include <utility>

namespace steptune::aws {

RateLimiter::RateLimiter(std::map<std::string, RateLimit> limits, RateLimit otherwise)
    : limits_(std::move(limits)), otherwise_(otherwise) {}

RateLimiter::Bucket& RateLimiter::bucket_for(const std::string& operation, double now_s) {
  const auto found = buckets_.find(operation);
  if (found != buckets_.end()) return found->second;
  const auto named = limits_.find(operation);
  const RateLimit limit = named == limits_.end() ? otherwise_ : named->second;
  return buckets_.emplace(operation, Bucket{limit, limit.burst, now_s}).first->second;
}

double RateLimiter::reserve_s(const std::string& operation, double now_s) {
  Bucket& bucket = bucket_for(operation, now_s);
  const double passed_s = std::max(0.0, now_s - bucket.updated_s);
  bucket.tokens = std::min(bucket.limit.burst, bucket.tokens + passed_s * bucket.limit.per_second);
  bucket.updated_s = std::max(now_s, bucket.updated_s);
  bucket.tokens -= 1.0;
  return bucket.tokens >= 0.0 ? now_s : now_s - bucket.tokens / bucket.limit.per_second;
}

RateLimiter sagemaker_rate_limiter() {
  return RateLimiter({{"CreateTrainingJob", {0.8, 1.0}},
                      {"StopTrainingJob", {0.8, 1.0}},
                      {"UpdateTrainingJob", {0.8, 1.0}},
                      {"DescribeTrainingJob", {4.0, 1.0}},
                      {"ListTrainingJobs", {1.0, 1.0}},
                      {"FilterLogEvents", {4.0, 1.0}}},
                     {2.0, 1.0});
}

}  // namespace steptune::aws
