// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/aws_session.hpp"

namespace steptune {
namespace {

constexpr int k_attempts = 4;

}  // namespace

Result<std::unique_ptr<aws::Session>> open_aws_session(const Clock& clock,
                                                       const std::string& region) {
  aws::RetryPolicy policy;
  policy.max_attempts = k_attempts;
  return aws::Session::open(clock, aws::wait_in_real_time(clock), region, policy);
}

}  // namespace steptune
