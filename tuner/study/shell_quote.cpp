// SPDX-License-Identifier: Apache-2.0
#include "common/shell_quote.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

/// Returns `$'\x1b[0m'`, so that no control character reaches the terminal.
std::string ansi_c_quoted(std::string_view text) {
  std::string quoted = "$'";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (is_control(c)) {
      // Octal with all three digits: a hexadecimal escape would swallow digits that follow.
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else if (c == '\'' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  return std::ranges::any_of(word, is_control) ? ansi_c_quoted(word) : posix_quoted(word);
}

std::string shell_quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace steptune
