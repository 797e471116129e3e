// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Value of an environment variable that gets `added`. GLIBC_TUNABLES and MALLOC_CONF list
/// settings: those of `own` that `added` does not set stay, in front. The value of any other
/// variable is replaced.
[[nodiscard]] std::string merged_variable(std::string_view name, std::string_view own,
                                          std::string_view added);

}  // namespace steptune
