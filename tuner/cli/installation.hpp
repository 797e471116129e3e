// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns the version of the SQLite library in use.
[[nodiscard]] std::string sqlite_version();

}  // namespace steptune
