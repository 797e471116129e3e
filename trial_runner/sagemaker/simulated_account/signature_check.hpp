// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/sagemaker/aws/http.hpp"
#include "trial_runner/sagemaker/simulated_account/account_options.hpp"
#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

/// Returns the header's value, or an empty text. Names are case-insensitive.
[[nodiscard]] std::string_view header_of(const aws::HttpRequest& request, std::string_view name);

/// Returns the error with which the service refuses the request at `wall_time_s` (service's clock):
/// missing or wrong signature, unknown or expired key, or a time that differs by more than five
/// minutes. Returns nullopt if one of `keys` has signed the request.
[[nodiscard]] std::optional<ServiceError> signature_fault(
    const aws::HttpRequest& request, const std::map<std::string, SigningKey>& keys,
    double wall_time_s);

}  // namespace steptune::simulated
