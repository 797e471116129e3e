// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns the first 12 digits of a commit's hash: as many as the rules of the Linux kernel ask for
/// in texts.
[[nodiscard]] inline std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

}  // namespace steptune
