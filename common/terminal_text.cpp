// SPDX-License-Identifier: Apache-2.0
#include "common/terminal_text.hpp"

#include <algorithm>
#include <array>

#include <locale.h>
#include <wchar.h>

#include "common/utf8.hpp"

namespace steptune {
namespace {

std::size_t columns_of(wchar_t character) {
  static const locale_t k_unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (k_unicode == nullptr) return 1;
  const locale_t former = ::uselocale(k_unicode);
  const int columns = ::wcwidth(character);
  ::uselocale(former);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

}  // namespace

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

CharacterSize character_size(std::string_view text) {
  const std::size_t length = utf8_length(text, 0);
  if (length <= 1) return {1, 1};
  constexpr std::array<unsigned, 5> k_bits_of_lead{0, 0, 0x1FU, 0x0FU, 0x07U};
  auto code_point = static_cast<unsigned char>(text[0]) & k_bits_of_lead[length];
  for (std::size_t i = 1; i < length; ++i)
    code_point = code_point << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {length, columns_of(static_cast<wchar_t>(code_point))};
}

}  // namespace steptune
