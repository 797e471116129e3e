// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/quota_refusal.hpp"

#include <regex>
#include <string>

#include "common/text.hpp"

namespace steptune {

bool is_quota(const aws::AwsError& error) {
  return error.code == "ResourceLimitExceeded";
}

bool is_hopeless(const aws::AwsError& error) {
  static const std::regex k_quota(
      "is ([0-9]{1,9}) Instances.* request delta of ([0-9]{1,9}) Instances");
  std::smatch quota;
  const std::string text = printable_line(error.message, 1024);
  if (std::regex_search(text, quota, k_quota) && std::stol(quota[1]) < std::stol(quota[2])) {
    return true;
  }
  return text.find("is 0 Instances") != std::string::npos ||
         text.find("is not available in this region") != std::string::npos;
}

}  // namespace steptune
