// SPDX-License-Identifier: Apache-2.0
#include "common/document/identifiers.hpp"

#include <algorithm>
#include <cstddef>

namespace steptune::document {
namespace {

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_of(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || extra.find(c) != std::string_view::npos;
  });
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && is_letter(text.front()) && all_of(text, "");
}

std::string as_identifier(std::string_view text, std::string_view prefix) {
  std::string name;
  for (const char c : text)
    name += is_letter(c) || is_digit(c) ? c : '_';
  if (name.empty() || is_digit(name.front())) name.insert(0, prefix);
  return name;
}

bool is_study_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '-' && text.front() != '.' &&
         all_of(text, ".-");
}

bool is_metric_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && is_letter(text.front()) && all_of(text, ".:/@-");
}

std::vector<std::string> identifiers_in(std::string_view expression) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < expression.size();) {
    const char c = expression[at];
    if (c == '\'' || c == '"') {
      const auto close = expression.find(c, at + 1);
      at = close == std::string_view::npos ? expression.size() : close + 1;
    } else if (is_letter(c) || is_digit(c)) {
      std::size_t end = at;
      while (end < expression.size() && (is_letter(expression[end]) || is_digit(expression[end]))) {
        ++end;
      }
      if (is_letter(c)) found.emplace_back(expression.substr(at, end - at));
      at = end;
    } else {
      ++at;
    }
  }
  return found;
}

}  // namespace steptune::document
