// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Returns the value `own` of an environment variable with `added` merged into it. GLIBC_TUNABLES
/// and MALLOC_CONF are lists of settings. For them, keeps the settings of `own` that `added` does
/// not set, and appends `added`. For any other variable, `added` replaces `own`.
[[nodiscard]] std::string merged_variable(std::string_view name, std::string_view own,
                                          std::string_view added);

}  // namespace steptune
