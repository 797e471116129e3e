// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// Returns the value of an environment variable after `added` is put into it. GLIBC_TUNABLES and
/// MALLOC_CONF are lists of settings: the result is the settings of `own` that `added` does not
/// set, followed by `added`. For any other variable `added` replaces the value.
[[nodiscard]] std::string merged_variable(std::string_view name, std::string_view own,
                                          std::string_view added);

}  // namespace steptune
