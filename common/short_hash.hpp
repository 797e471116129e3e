// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns the first 12 digits of a hash: as many as the rules of the Linux kernel ask for in texts
/// about commits.
[[nodiscard]] inline std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

}  // namespace steptune
