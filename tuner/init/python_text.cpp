// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/python_text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {

std::size_t string_length(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return 0;
  const std::string_view quote =
      text.substr(0, text.size() >= 3 && text[1] == text[0] && text[2] == text[0] ? 3 : 1);
  for (std::size_t i = quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i).starts_with(quote)) {
      return i + quote.size();
    }
  }
  return text.size();
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<Literal> literal_of(const std::string& expression) {
  static const RE2 k_product(R"((\d+)\s*\*\s*(\d+))");
  static const RE2 k_integer(R"([+-]?\d[\d_]*)");
  const std::string text = trimmed(expression);
  if (text == "True" || text == "False") return Literal{text, OptionKind::boolean};
  const std::size_t quoted = string_length(text);
  if (quoted >= 2 && quoted == text.size()) {
    return Literal{text.substr(1, quoted - 2), OptionKind::text};
  }
  std::int64_t left = 0;
  std::int64_t right = 0;
  if (RE2::FullMatch(text, k_product, &left, &right) && left < 1'000'000 && right < 1'000'000) {
    return Literal{fmt::format("{}", left * right), OptionKind::integer};
  }
  if (RE2::FullMatch(text, k_integer)) {
    std::string digits = text;
    std::erase(digits, '_');
    return Literal{digits, OptionKind::integer};
  }
  if (parse_finite(text)) return Literal{text, OptionKind::number};
  return std::nullopt;
}

std::string code_of(std::string_view source) {
  std::string code;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '#') {
      i = std::min(source.find('\n', i), source.size());
      if (i < source.size()) code += '\n';
    } else if (const std::size_t length = string_length(source.substr(i))) {
      const std::string_view text = source.substr(i, length);
      if (text.starts_with("\"\"\"") || text.starts_with("'''")) {
        code +=
            "\"\"" + std::string(static_cast<std::size_t>(std::ranges::count(text, '\n')), '\n');
      } else {
        code += text;
      }
      i += length - 1;
    } else {
      code += source[i];
    }
  }
  return code;
}

std::vector<ProgramOption> assignments_in(std::string_view source, Repeated repeated, Depth depth) {
  static const RE2 k_top_level(R"((?m)^([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^#\n]+?)\s*(?:#.*)?$)");
  static const RE2 k_any(
      R"((?m)^[ \t]*([A-Za-z][A-Za-z0-9_]*)\s*(?::\s*\w+\s*)?=\s*([^#\n]+?)\s*(?:#.*)?$)");
  const RE2& k_assignment = depth == Depth::any ? k_any : k_top_level;
  std::vector<ProgramOption> options;
  re2::StringPiece rest(source.data(), source.size());
  std::string name;
  std::string value;
  while (options.size() < k_most_options &&
         RE2::FindAndConsume(&rest, k_assignment, &name, &value)) {
    ProgramOption option;
    option.name = "--" + name;
    option.form = OptionForm::joined;
    option.python_truth = true;
    if (const auto literal = literal_of(value)) {
      option.default_value = literal->text;
      option.kind = literal->kind;
    }
    const auto same = std::ranges::find(options, option.name, &ProgramOption::name);
    if (same == options.end()) {
      options.push_back(std::move(option));
    } else if (repeated == Repeated::last) {
      *same = std::move(option);
    }
  }
  return options;
}

ProgramOption as_setting(ProgramOption option, const std::string& file_name) {
  option.name = option.name.substr(2);
  option.form = OptionForm::assignment;
  option.default_from = file_name;
  return option;
}

}  // namespace steptune
