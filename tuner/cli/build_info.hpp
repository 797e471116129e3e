// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// What this program was built from and with.
struct BuildInfo {
  std::string version;     ///< `0.1.0`
  std::string commit;      ///< abbreviated, `+` where the tree had changes; empty outside of git
  std::string compiler;    ///< `GNU 12.2.0`
  std::string build_type;  ///< `Release`
};

[[nodiscard]] BuildInfo build_info();

}  // namespace steptune
