// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns the system's text for an error number, such as errno: `No such file or directory`. Any
/// thread may call it.
[[nodiscard]] std::string system_reason(int error);

}  // namespace steptune
