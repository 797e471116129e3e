// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns the first 12 digits of a hash. The Linux kernel's rules for citing a commit also require
/// 12.
[[nodiscard]] inline std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

}  // namespace steptune
