// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "trial_runner/sagemaker/aws/session.hpp"

namespace steptune {

/// AWS for a command that somebody waits for: gives up after a few attempts instead of outlasting
/// an outage. `region`: empty for the environment's. Waits in real time. `clock` outlives it.
[[nodiscard]] Result<std::unique_ptr<aws::Session>> open_aws_session(const Clock& clock,
                                                                     const std::string& region);

}  // namespace steptune
