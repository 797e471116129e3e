// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace steptune {

enum class ConfigFormat { json, yaml, toml, ini };

/// By the file's name: `.json`, `.jsonc`, `.yaml`, `.yml`, `.toml`, and INI's `.ini`, `.cfg`,
/// `.conf`; an error of kind `usage` for any other.
[[nodiscard]] Result<ConfigFormat> config_format_of(const std::filesystem::path& file);

/// One value of a configuration file that holds no others, and where its text stands.
struct ConfigScalar {
  /// Keys and places in lists, outermost first; empty where a document is nothing but this value.
  std::vector<std::string> path;
  std::size_t begin = 0;  ///< bytes of the text; end: one beyond
  std::size_t end = 0;
  int line = 1;
  Json value;               ///< as the format types it: number, boolean, text or null
  std::string why_fixed{};  ///< not empty: why its text cannot be replaced alone

  /// `train.loader.batch_size`, `trainers.0.workers`
  [[nodiscard]] std::string key() const;
};

/// All scalars of a configuration in order of their text. JSON may have `//` and `/* */` comments;
/// YAML is read by libyaml, its plain scalars typed by the core schema of YAML 1.2; TOML is 1.0, by
/// toml++; INI is `name = value` below `[section]` or none, with comments behind `#` and `;`, as
/// Python's configparser, XGBoost, LightGBM and darknet read it: what looks like a number or a
/// truth value is one. Errors of kind `usage` name the place. Texts are UTF-8, with or without CR.
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_config(ConfigFormat format,
                                                            std::string_view text,
                                                            const std::string& where);

/// `value` as it is written in place of `present`, the scalar's text: texts keep single quotes, or
/// none, where the format reads the same text back. Numbers are read alike by all parsers, those of
/// YAML 1.1 included: `1.0e-05`.
[[nodiscard]] std::string config_scalar_text(ConfigFormat format, const Value& value,
                                             std::string_view present);

/// The scanners behind `scan_config`, of a text without a byte order mark.
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_json(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_yaml(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_toml(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_ini(std::string_view text,
                                                         const std::string& where);

}  // namespace steptune
