// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/config_edit/config_file.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_blanks = " \t";

std::size_t skip_blanks(std::string_view line, std::size_t from) {
  return std::min(line.find_first_not_of(k_blanks, from), line.size());
}

/// Returns `line` without trailing blanks.
std::string_view without_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(k_blanks);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Returns the end of the value that starts at `begin`: after its closing quote, or before a
/// comment, which follows a blank.
std::size_t value_end(std::string_view line, std::size_t begin) {
  const char quote = begin < line.size() ? line[begin] : '\0';
  if (quote == '"' || quote == '\'') {
    const std::size_t closing = line.find(quote, begin + 1);
    if (closing != std::string_view::npos) return closing + 1;
  }
  std::size_t end = begin;
  while (end < line.size()) {
    const bool begins_comment = line[end] == '#' || line[end] == ';';
    if (begins_comment && (end == begin || k_blanks.find(line[end - 1]) != std::string_view::npos))
      break;
    ++end;
  }
  return begin + without_end(line.substr(begin, end - begin)).size();
}

Json typed_ini(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  if (quoted) return std::string(text.substr(1, text.size() - 2));
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (text.empty()) return {};
  const auto number = parse_finite(std::string(text));
  if (!number) return std::string(text);
  const Json typed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return typed.is_number() ? typed : Json(*number);
}

}  // namespace

Result<std::vector<ConfigScalar>> scan_ini(std::string_view text, const std::string& where) {
  std::vector<ConfigScalar> scalars;
  std::string section;
  std::size_t key_indent = 0;
  bool may_continue = false;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t line_begin = begin;
    begin = end + 1;
    ++number;
    const std::size_t first = skip_blanks(line, 0);
    if (first == line.size()) {
      may_continue = false;
      continue;
    }
    if (line[first] == '#' || line[first] == ';') continue;
    if (may_continue && first > key_indent) {
      scalars.back().why_fixed = "it continues in the next line";
      continue;
    }
    may_continue = false;
    if (line[first] == '[') {
      const std::size_t closing = line.find(']', first);
      if (closing == std::string_view::npos) {
        return fail(ErrorKind::usage, "is not INI: a section's name has no closing bracket",
                    fmt::format("{}:{}", where, number));
      }
      section = line.substr(first + 1, closing - first - 1);
      continue;
    }
    const std::size_t equals = line.find('=', first);
    if (equals == std::string_view::npos) continue;
    const std::string_view key = without_end(line.substr(first, equals - first));
    if (key.empty()) {
      return fail(ErrorKind::usage, "is not INI: a value has no name",
                  fmt::format("{}:{}", where, number));
    }
    ConfigScalar found;
    if (!section.empty()) found.path.push_back(section);
    found.path.emplace_back(key);
    const std::size_t value = skip_blanks(line, equals + 1);
    const std::size_t value_stop = value_end(line, value);
    found.begin = line_begin + value;
    found.end = line_begin + value_stop;
    found.line = number;
    found.value = typed_ini(line.substr(value, value_stop - value));
    scalars.push_back(std::move(found));
    key_indent = first;
    may_continue = true;
  }
  return scalars;
}

}  // namespace steptune
