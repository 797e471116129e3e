// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// The SQLite library in use.
[[nodiscard]] std::string sqlite_version();

}  // namespace steptune
