// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/config_file.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// True for a word of letters and path characters, which no YAML parser reads as syntax.
bool is_plain_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

/// True for words that YAML 1.1 or 1.2 does not read as text.
bool is_yaml_word(std::string_view text) {
  constexpr std::array<std::string_view, 10> k_words{"true", "false", "yes", "no",   "on",
                                                     "off",  "y",     "n",   "null", "nan"};
  return std::ranges::find(k_words, lower_case(text)) != k_words.end();
}

bool is_single_quotable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\'' || byte < 0x20 || byte == 0x7F;
  });
}

/// Returns the text in double quotes, with JSON's escapes, which every format supports.
std::string double_quoted(const std::string& text) {
  std::string quoted = dump_json(Json(text));
  for (auto at = quoted.find('\x7F'); at != std::string::npos; at = quoted.find('\x7F', at)) {
    quoted.replace(at, 1, "\\u007f");
  }
  return quoted;
}

/// Returns the text for an INI file. Adds quotes only if the present value has quotes, because many
/// INI readers do not support them. The caller refuses a change that is not read back unchanged.
std::string ini_text(const std::string& text, std::string_view present) {
  const char quote = present.empty() ? '\0' : present.front();
  if (quote != '"' && quote != '\'') return text;
  return quote + text + quote;
}

std::string quoted_text(ConfigFormat format, const std::string& text, std::string_view present) {
  if (format == ConfigFormat::json) return double_quoted(text);
  if (format == ConfigFormat::ini) return ini_text(text, present);
  const bool single = present.starts_with('\'') && !present.starts_with("'''");
  if (single && is_single_quotable(text)) return "'" + text + "'";
  const bool plain = !present.empty() && !present.starts_with('\'') && !present.starts_with('"');
  if (format == ConfigFormat::yaml && plain && is_plain_word(text) && !is_yaml_word(text)) {
    return text;
  }
  return double_quoted(text);
}

/// Returns the number with a decimal point, because YAML 1.1 reads `1e-05` as a text.
std::string float_text(double value) {
  std::string text = to_text(Value(value));
  if (text.find('.') != std::string::npos) return text;
  const auto exponent = text.find('e');
  text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

}  // namespace

Result<ConfigFormat> config_format_of(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".json" || extension == ".jsonc") return ConfigFormat::json;
  if (extension == ".yaml" || extension == ".yml") return ConfigFormat::yaml;
  if (extension == ".toml") return ConfigFormat::toml;
  if (extension == ".ini" || extension == ".cfg" || extension == ".conf") return ConfigFormat::ini;
  return fail(ErrorKind::usage, "is not known to be JSON, YAML, TOML or INI", file.string(),
              "its name must end in .json, .jsonc, .yaml, .yml, .toml, .ini, .cfg or .conf");
}

std::string ConfigScalar::key() const {
  return fmt::format("{}", fmt::join(path, "."));
}

Result<std::vector<ConfigScalar>> scan_config(ConfigFormat format, std::string_view text,
                                              const std::string& where) {
  // Skip the byte order mark: the parsers disagree on whether it is a character.
  constexpr std::string_view k_mark = "\xEF\xBB\xBF";
  const std::size_t skipped = text.starts_with(k_mark) ? k_mark.size() : 0;
  const auto scan = format == ConfigFormat::json   ? scan_json
                    : format == ConfigFormat::yaml ? scan_yaml
                    : format == ConfigFormat::toml ? scan_toml
                                                   : scan_ini;
  auto scalars = scan(text.substr(skipped), where);
  if (!scalars) return scalars;
  for (ConfigScalar& scalar : *scalars) {
    scalar.begin += skipped;
    scalar.end += skipped;
  }
  return scalars;
}

std::string config_scalar_text(ConfigFormat format, const Value& value, std::string_view present) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return quoted_text(format, *text, present);
  }
  if (const auto* number = std::get_if<double>(&value)) return float_text(*number);
  return to_text(value);
}

}  // namespace steptune
