// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace steptune {

/// Returns this program's environment for `argv`, as `NAME=value`, with `variables` added or
/// replaced. For a launcher, leaves out variables that describe this program's own rank.
[[nodiscard]] std::vector<std::string> child_environment(
    const std::vector<std::string>& argv, const std::map<std::string, std::string>& variables);

}  // namespace steptune
