// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// Tolerates transient failures of AWS for a limited time: throttling, server errors, a lost
/// network, and expired credentials (the user can renew them). The caller repeats a failed request
/// later.
class Outage {
 public:
  /// `clock` and `notices` outlive the object.
  Outage(const Clock& clock, Notices& notices, double longest_s)
      : clock_(clock), notices_(notices), longest_s_(longest_s) {}

  /// Records a failed request. Returns an error if the failure is not transient, or if all requests
  /// have failed for more than `longest_s`.
  [[nodiscard]] Result<void> on_failure(const aws::AwsError& error);
  /// Records a successful request.
  void on_success() { since_s_.reset(); }
  /// True if the latest request failed.
  [[nodiscard]] bool lasts() const { return since_s_.has_value(); }

 private:
  const Clock& clock_;
  Notices& notices_;
  double longest_s_;
  std::optional<double> since_s_;
};

}  // namespace steptune
