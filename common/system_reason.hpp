// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// What the system says of an error number, such as errno: `No such file or directory`. May be
/// called on any thread.
[[nodiscard]] std::string system_reason(int error);

}  // namespace steptune
