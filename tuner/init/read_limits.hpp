// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace steptune {

/// Most bytes that are read of a program's source, help, output, or texts in its executable.
inline constexpr std::size_t k_most_text_bytes = std::size_t{1} << 20;

}  // namespace steptune
