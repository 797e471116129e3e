// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace steptune {

/// Returns the length of the well-formed UTF-8 sequence at `at`, or 0 (The Unicode Standard, table
/// 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// True if the whole text is well-formed UTF-8, as JSON requires.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the text with each byte that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace steptune
