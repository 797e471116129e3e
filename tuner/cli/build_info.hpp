// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Version, source and compiler of this program.
struct BuildInfo {
  std::string version;     ///< `0.1.0`
  std::string commit;      ///< abbreviated, with `+` if the tree had changes; empty outside git
  std::string compiler;    ///< `GNU 12.2.0`
  std::string build_type;  ///< `Release`
};

[[nodiscard]] BuildInfo build_info();

}  // namespace steptune
