// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"

namespace steptune {

/// Posts a JSON document, waiting at most 15 s. Verifies certificates and follows no redirects.
/// Returns `unavailable` if there is no answer, or if the answer's status is not 2xx. The error
/// message does not include the address.
[[nodiscard]] Result<void> post_json(const std::string& address, const std::string& document);

}  // namespace steptune
