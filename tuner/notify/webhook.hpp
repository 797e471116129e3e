// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"

namespace steptune {

/// Posts a JSON document, waiting 15 s at most. Certificates are verified, redirects are not
/// followed. `unavailable` without an answer, or for one whose status is not 2xx; the message does
/// not name the address.
[[nodiscard]] Result<void> post_json(const std::string& address, const std::string& document);

}  // namespace steptune
