// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace steptune {

/// Returns the length in bytes of the terminal escape sequence at the start of `text`, or 0 if
/// there is none. Sequences are `ESC [ ...` up to the final byte, `ESC ] ...` (a title or link) up
/// to BEL or ESC backslash, otherwise ESC and the next byte. A sequence without an end extends to
/// the end of the text. Source: ECMA-48, control sequences; xterm, "Operating System Commands".
[[nodiscard]] std::size_t escape_sequence_length(std::string_view text);

/// Size of a character: bytes in the text and columns on a terminal.
struct CharacterSize {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

/// Returns the size of the first character of `text`, which must not be empty. Wide characters
/// (CJK, emoji) take two columns, combining marks none, all others one, including bytes that are
/// not UTF-8. Uses the C library's tables in any locale.
[[nodiscard]] CharacterSize character_size(std::string_view text);

}  // namespace steptune
