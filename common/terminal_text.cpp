// SPDX-License-Identifier: Apache-2.0
#include "common/terminal_text.hpp"

#include <algorithm>

namespace steptune {

std::size_t escape_sequence_length(std::string_view text) {
  if (!text.starts_with('\x1b')) return 0;
  const char kind = text.size() > 1 ? text[1] : '\0';
  std::size_t end = 1;
  if (kind == '[') {
    end = 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~'))
      ++end;
  } else if (kind == ']') {
    while (end < text.size() && text[end] != '\a' && text[end] != '\x1b')
      ++end;
    if (end < text.size() && text[end] == '\x1b') ++end;
  }
  return std::min(end + 1, text.size());
}

}  // namespace steptune
