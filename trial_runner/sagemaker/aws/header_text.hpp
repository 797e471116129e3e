// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptune::aws {

/// Without leading and trailing blanks, tabs and line ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace steptune::aws
