// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune::aws {

/// Returns `text` without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace steptune::aws
