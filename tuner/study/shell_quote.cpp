// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/shell_quote.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%^").find(c) != std::string_view::npos;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

/// `$'\x1b[0m'`: keeps control characters away from the terminal that shows the line.
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

template <typename Quote>
std::string line_of(const std::vector<std::string>& words, const Quote& quote) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += quote(word);
  }
  return line;
}

}  // namespace

std::string posix_quoted(std::string_view word) {
  if (!word.empty() && word.front() != '=' &&
      std::all_of(word.begin(), word.end(), needs_no_quotes)) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string posix_quoted(const std::vector<std::string>& words) {
  return line_of(words, [](const std::string& word) { return posix_quoted(word); });
}

std::string shell_quoted(std::string_view word) {
  return std::any_of(word.begin(), word.end(), is_control) ? ansi_c_quoted(word)
                                                           : posix_quoted(word);
}

std::string shell_quoted(const std::vector<std::string>& words) {
  return line_of(words, [](const std::string& word) { return shell_quoted(word); });
}

}  // namespace steptune
