// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/request_rates.hpp"

#include <algorithm>

namespace steptune::simulated {

std::map<std::string, double> account_request_rates() {
  return {{"CreateTrainingJob", 1},   {"StopTrainingJob", 1},  {"UpdateTrainingJob", 1},
          {"DescribeTrainingJob", 5}, {"ListTrainingJobs", 2}, {"FilterLogEvents", 10}};
}

RequestRates::RequestRates(std::map<std::string, double> per_second)
    : per_second_(std::move(per_second)) {}

void RequestRates::observe(const std::string& operation, double now_s) {
  std::deque<double>& recent = recent_[operation];
  while (!recent.empty() && recent.front() <= now_s - 1.0)
    recent.pop_front();
  recent.push_back(now_s);
  int& most = most_[operation];
  most = std::max(most, static_cast<int>(recent.size()));
}

bool RequestRates::admit(const std::string& operation, double now_s) {
  observe(operation, now_s);
  const auto rate = per_second_.find(operation);
  if (rate == per_second_.end()) return true;
  const double full = std::max(1.0, rate->second);
  const auto [entry, fresh] = buckets_.try_emplace(operation, Bucket{full, now_s});
  Bucket& bucket = entry->second;
  bucket.tokens = std::min(full, bucket.tokens + (now_s - bucket.updated_s) * rate->second);
  bucket.updated_s = now_s;
  // Allow for rounding errors, because a sum of fractions may be slightly less than a whole token.
  if (bucket.tokens < 1.0 - 1e-9) {
    ++refused_[operation];
    return false;
  }
  bucket.tokens -= 1.0;
  return true;
}

}  // namespace steptune::simulated
