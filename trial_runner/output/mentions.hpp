// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace steptune {

/// True if the text contains at least one of the phrases.
template <std::size_t Size>
[[nodiscard]] bool mentions(std::string_view text,
                            const std::array<std::string_view, Size>& phrases) {
  return std::ranges::any_of(phrases, [text](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

}  // namespace steptune
