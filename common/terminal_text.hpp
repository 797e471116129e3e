// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace steptune {

/// Bytes of the terminal escape sequence at the begin of `text`, 0 if there is none: `ESC [ ...`
/// up to its final byte, `ESC ] ...` (a title or link) up to BEL or ESC backslash, otherwise ESC
/// and the byte after it. A sequence without an end reaches to the end of the text. Source:
/// ECMA-48, control sequences; xterm, "Operating System Commands".
[[nodiscard]] std::size_t escape_sequence_length(std::string_view text);

/// What a character takes: bytes of the text, columns of a terminal.
struct CharacterSize {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

/// Of the character at the begin of `text`, which is not empty: two columns for wide ones (CJK,
/// emoji), none for marks that combine with the one before, else one, also for a byte that is no
/// UTF-8. By the C library's tables, whatever the program's locale.
[[nodiscard]] CharacterSize character_size(std::string_view text);

}  // namespace steptune
