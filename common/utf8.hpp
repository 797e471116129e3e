// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace steptune {

/// Length of the well-formed UTF-8 sequence at `at`, or 0 (The Unicode Standard, table 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// Whether all of it is well-formed: JSON holds no other texts.
[[nodiscard]] bool is_utf8(std::string_view text);

/// The text with U+FFFD in the place of each byte that is not.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace steptune
