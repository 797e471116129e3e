// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune {

/// Waits out transient failures of AWS: throttling, server errors, a lost network, credentials
/// that the user can renew. What the caller was about to do is simply done at its next turn.
class Outage {
 public:
  /// `clock` and `notices` outlive the object.
  Outage(const Clock& clock, Notices& notices, double longest_s)
      : clock_(clock), notices_(notices), longest_s_(longest_s) {}

  /// A request failed. An error if that is not transient, or if none has succeeded for `longest_s`.
  [[nodiscard]] Result<void> on_failure(const aws::AwsError& error);
  /// A request succeeded.
  void on_success() { since_s_.reset(); }
  /// None has succeeded since one failed.
  [[nodiscard]] bool lasts() const { return since_s_.has_value(); }

 private:
  const Clock& clock_;
  Notices& notices_;
  double longest_s_;
  std::optional<double> since_s_;
};

}  // namespace steptune
