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

/// The header's value, or an empty text; names compare without regard to case.
[[nodiscard]] std::string_view header_of(const aws::HttpRequest& request, std::string_view name);

/// Why the request is refused at `wall_time_s` of the service's clock: no or wrong signature, an
/// unknown or expired key, more than five minutes off. Nothing: it is signed by one of `keys`.
[[nodiscard]] std::optional<ServiceError> signature_fault(
    const aws::HttpRequest& request, const std::map<std::string, SigningKey>& keys,
    double wall_time_s);

}  // namespace steptune::simulated
