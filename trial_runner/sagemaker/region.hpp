// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace steptune {

/// True if `name` may be an AWS region: 1 to 40 lower-case letters, digits and hyphens. The name
/// becomes part of host and file names.
[[nodiscard]] inline bool is_region(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace steptune
