// SPDX-License-Identifier: Apache-2.0
#include "common/shell_quote.hpp"

#include <algorithm>

namespace steptune {
namespace {

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%^").find(c) != std::string_view::npos;
}

}  // namespace

std::string posix_quoted(std::string_view word) {
  // zsh expands a word that begins with `=` to the path of a command.
  if (!word.empty() && word.front() != '=' && std::ranges::all_of(word, needs_no_quotes)) {
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
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + posix_quoted(word);
  return line;
}

}  // namespace steptune
