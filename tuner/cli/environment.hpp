// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace steptune {

/// The value of an environment variable; nothing if it is not set. The program passes the real
/// environment, tests pass their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

[[nodiscard]] Environment process_environment();

}  // namespace steptune
