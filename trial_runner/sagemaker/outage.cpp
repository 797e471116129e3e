// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/outage.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

bool is_passing(const aws::AwsError& error) {
  // Credentials may expire while jobs run; the user can sign in again.
  return aws::is_throttling(error) || aws::is_transient(error) || error.code == "NoCredentials" ||
         error.code == "ExpiredToken" || error.code == "ExpiredTokenException";
}

}  // namespace

Result<void> Outage::on_failure(const aws::AwsError& error) {
  if (!is_passing(error)) return tl::unexpected(error.to_error());
  const double now_s = clock_.now_s();
  if (!since_s_) {
    since_s_ = now_s;
    notices_.add(fmt::format("AWS requests fail, retrying for up to {}: {}",
                             format_duration(longest_s_), error.to_error().text()));
  }
  if (now_s - *since_s_ > longest_s_) return tl::unexpected(error.to_error());
  return {};
}

}  // namespace steptune
