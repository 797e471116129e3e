// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace steptune {

/// Returns the system's text for an error number, such as errno: `No such file or directory`. Any
/// thread may call it.
[[nodiscard]] inline std::string system_reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace steptune
