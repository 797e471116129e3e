// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <re2/re2.h>

#include "common/text.hpp"
#include "tuner/init/help_text.hpp"

namespace steptune {
namespace {

std::vector<std::string> split_at(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    std::string part = text.substr(begin, end - begin);
    const std::size_t first = part.find_first_not_of(" '\"");
    if (first != std::string::npos) {
      parts.push_back(part.substr(first, part.find_last_not_of(" '\"") - first + 1));
    }
    begin = end + 1;
  }
  return parts;
}

OptionKind kind_of_word(const std::string& word) {
  const std::string name = lower_case(word);
  for (const char* integer : {"int", "integer", "uint", "int32", "int64", "uint32", "uint64", "n"})
    if (name == integer) return OptionKind::integer;
  for (const char* number : {"float", "double", "number"})
    if (name == number) return OptionKind::number;
  for (const char* boolean : {"bool", "boolean"})
    if (name == boolean) return OptionKind::boolean;
  return name == "text" || name == "str" || name == "string" ? OptionKind::text
                                                             : OptionKind::unknown;
}

/// True if a word in brackets after a description may be the default value of an option. False for
/// words that describe a flag.
bool is_value(const std::string& word) {
  static const RE2 k_of_a_flag(
      "(?i)^(?:true|false|yes|no|on|off|required|optional|default|deprecated|experimental|boolean|"
      "bool|count)$");
  return !RE2::FullMatch(word, k_of_a_flag);
}

/// Returns the choices of `{fp32,bf16}`, `[fp32|bf16]`, `<fp32|bf16>` or `fp32|bf16`.
std::vector<std::string> choices_in(const std::string& placeholder) {
  static const RE2 k_braces(R"(\{([^{}]+,[^{}]+)\})");
  static const RE2 k_bars(R"(([A-Za-z0-9_.+-]+(?:\|[A-Za-z0-9_.+-]+)+))");
  std::string inner;
  if (RE2::PartialMatch(placeholder, k_braces, &inner)) return split_at(inner, ",");
  if (RE2::PartialMatch(placeholder, k_bars, &inner)) return split_at(inner, "|");
  return {};
}

/// Reads the placeholder after an option's names: `N`, `[BF16]`, `INT:INT in [1 - 512]=32`, or
/// since CLI11 2.4 `INT:INT in [1 - 512] [32]`.
void read_placeholder(const std::string& placeholder, ProgramOption& option) {
  static const RE2 k_default(R"(^(?:[A-Za-z_]+(?::[^=]*)?|[^\s=]+)=([^\s=]+))");
  static const RE2 k_default_in_brackets(R"(^[A-Za-z].* \[([^\[\]\s]+)\] *$)");
  static const RE2 k_word(R"(^[<\[]?([A-Za-z0-9]+))");
  option.choices = choices_in(placeholder);
  std::string value;
  if (RE2::PartialMatch(placeholder, k_default, &value) ||
      RE2::FullMatch(placeholder, k_default_in_brackets, &value)) {
    option.default_value = value;
    option.default_from = "--help";
  }
  if (option.choices.empty() && RE2::PartialMatch(placeholder, k_word, &value)) {
    option.kind = kind_of_word(value);
  }
  // argparse prints this for nargs="?": a boolean option whose value may be omitted.
  if (placeholder.starts_with('[') && option.choices.empty() &&
      option.kind == OptionKind::unknown) {
    option.kind = OptionKind::boolean;
  }
}

/// Returns the position of the blank before the next name. Ignores ` - ` in a range.
std::size_t next_name(const std::string& heading, std::size_t from) {
  std::size_t at = heading.find(" -", from);
  while (at != std::string::npos && at + 2 < heading.size() && heading[at + 2] == ' ')
    at = heading.find(" -", at + 2);
  return std::min(at, heading.size());
}

}  // namespace

void add_name(std::string name, ProgramOption& option) {
  static const RE2 k_absl_boolean(R"(^(-{1,2})\[no\]([A-Za-z].*)$)");
  static const RE2 k_negative(R"(^--no[-_].+)");
  std::string dashes;
  std::string rest;
  if (RE2::FullMatch(name, k_absl_boolean, &dashes, &rest)) {
    option.negation = dashes + "no" + rest;
    option.kind = OptionKind::boolean;
    name = dashes + rest;
  } else if (RE2::FullMatch(name, k_negative) && option.name.starts_with("--")) {
    option.negation = name;
    return;
  }
  const bool longer = name.starts_with("--") && !option.name.starts_with("--");
  if (option.name.empty()) {
    option.name = name;
  } else if (longer) {
    option.aliases.push_back(std::exchange(option.name, name));
  } else if (name != option.name) {
    option.aliases.push_back(name);
  }
}

ProgramOption parse_heading(const std::string& heading) {
  static const RE2 k_name(R"(^(-{1,2}(?:\[no\])?[A-Za-z][A-Za-z0-9_.\-]*)(.*)$)");
  ProgramOption option;
  std::string placeholder;
  std::size_t begin = 0;
  while (begin < heading.size()) {
    const std::size_t end = std::min(heading.find_first_of(" ,/", begin), heading.size());
    std::string token = heading.substr(begin, end - begin);
    begin = end + 1;
    if (token.empty()) continue;
    std::string name;
    std::string rest;
    if (!RE2::FullMatch(token, k_name, &name, &rest)) {
      // A placeholder may contain blanks, commas and slashes. It ends at the next name.
      const std::size_t start = begin - 1 - token.size();
      const std::size_t stop = next_name(heading, start);
      placeholder = heading.substr(start, stop - start);
      begin = stop + 1;
      continue;
    }
    add_name(name, option);
    if (rest.starts_with('=') || rest.starts_with("[=")) {
      option.form = OptionForm::joined;
      placeholder = rest.substr(rest.find('=') + 1);
    }
  }
  if (option.name.empty()) return option;
  read_placeholder(placeholder, option);
  if (placeholder.empty() && option.kind != OptionKind::boolean) option.form = OptionForm::flag;
  if (!option.negation.empty()) option.form = OptionForm::flag;
  return option;
}

void read_description(const std::string& description, ProgramOption& option) {
  static const RE2 k_parenthesis(
      R"re((?i)\(\s*default(?:s to| is| value)?\s*[:=]?\s*'?([^()'"]*?)'?\s*\))re");
  static const RE2 k_bracket(R"re((?i)\[default(?:s to)?\s*[:=]?\s*([^\];]*?)\s*[\];])re");
  static const RE2 k_plain(R"re((?i)\bdefault(?:s to| is)?\s*[:=]?\s*["'`]?([^\s,;"'`)\]]+))re");
  // fastText: `number of threads (set to 1 to ensure reproducible results) [12]`
  static const RE2 k_last_bracket(R"re(\[([^\[\]\s=|]*)\]$)re");
  static const RE2 k_type(R"re((?i)\btype:\s*([A-Za-z0-9]+))re");
  static const RE2 k_absl(R"(\((an integer|a number|a boolean value|boolean)\b)");
  static const RE2 k_absl_choices(R"(^<([^<>]+\|[^<>]+)>:)");
  std::string found;
  if (option.choices.empty() && RE2::PartialMatch(description, k_absl_choices, &found)) {
    option.choices = split_at(found, "|");
  }
  if (option.kind == OptionKind::unknown) {
    if (RE2::PartialMatch(description, k_absl, &found)) {
      option.kind = found == "an integer" ? OptionKind::integer
                    : found == "a number" ? OptionKind::number
                                          : OptionKind::boolean;
    } else if (RE2::PartialMatch(description, k_type, &found)) {
      option.kind = kind_of_word(found);
    }
  }
  if (!option.default_value && (RE2::PartialMatch(description, k_parenthesis, &found) ||
                                RE2::PartialMatch(description, k_bracket, &found) ||
                                RE2::PartialMatch(description, k_plain, &found))) {
    while (found.ends_with('.') || found.ends_with('\''))
      found.pop_back();
    // Python's None means no default.
    const bool is_none =
        found == "None" && std::ranges::find(option.choices, found) == option.choices.end();
    if (!found.empty() && !is_none) {
      option.default_value = found;
      option.default_from = "--help";
    }
  }
  if (!option.default_value && option.form == OptionForm::flag && option.negation.empty() &&
      RE2::PartialMatch(description, k_last_bracket, &found) && is_value(found)) {
    // The default of a flag can only be off. So an option with another default takes a value, even
    // if its heading names none.
    option.form = OptionForm::separate;
    if (const auto number = parse_finite(found)) {
      const bool whole = found.find_first_of(".eE") == std::string::npos;
      option.kind = whole ? OptionKind::integer : OptionKind::number;
    }
    if (!found.empty()) {
      option.default_value = found;
      option.default_from = "--help";
    }
  }
  option.words = printable_line(description, 120);
}

}  // namespace steptune
