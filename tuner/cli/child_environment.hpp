// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace steptune {

/// This program's environment for `argv`, `NAME=value` each, with `variables` in place of those it
/// has. A launcher is not told of ranks that this program has.
[[nodiscard]] std::vector<std::string> child_environment(
    const std::vector<std::string>& argv, const std::map<std::string, std::string>& variables);

}  // namespace steptune
