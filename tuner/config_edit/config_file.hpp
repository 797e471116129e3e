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

/// Returns the format by the file's name: `.json`, `.jsonc`, `.yaml`, `.yml`, `.toml`, and INI's
/// `.ini`, `.cfg`, `.conf`. An error of kind `usage` for any other name.
[[nodiscard]] Result<ConfigFormat> config_format_of(const std::filesystem::path& file);

/// One scalar value of a configuration file, and the place of its text.
struct ConfigScalar {
  /// Keys and list indices, outermost first; empty if the document is only this value.
  std::vector<std::string> path;
  std::size_t begin = 0;  ///< first byte of the scalar's text; `end` is one past the last byte
  std::size_t end = 0;
  int line = 1;
  Json value;               ///< with its type in this format: number, boolean, text or null
  std::string why_fixed{};  ///< why its text cannot be replaced alone; otherwise empty

  /// `train.loader.batch_size`, `trainers.0.workers`
  [[nodiscard]] std::string key() const;
};

/// Returns all scalars of a configuration in order of their text. Texts are UTF-8, with or without
/// CR. Errors of kind `usage` name the place.
/// - JSON may have `//` and `/* */` comments.
/// - YAML is read by libyaml; plain scalars have the types of YAML 1.2's core schema.
/// - TOML is 1.0, read by toml++.
/// - INI is `name = value` with or without `[section]`. Comments start with `#` or `;`. Python's
///   configparser, XGBoost, LightGBM and darknet use this format. Values without quotes that are
///   numbers, `true`, `True`, `false` or `False` count as numbers and booleans.
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_config(ConfigFormat format,
                                                            std::string_view text,
                                                            const std::string& where);

/// Returns the text of `value` that replaces `present`, the scalar's present text. Keeps the
/// present style of single quotes or no quotes if the format then reads the same value back.
/// Numbers have a form that all parsers read in the same way, including YAML 1.1: `1.0e-05`.
[[nodiscard]] std::string config_scalar_text(ConfigFormat format, const Value& value,
                                             std::string_view present);

/// The scanners of `scan_config`, for a text without a byte order mark.
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_json(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_yaml(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_toml(std::string_view text,
                                                          const std::string& where);
[[nodiscard]] Result<std::vector<ConfigScalar>> scan_ini(std::string_view text,
                                                         const std::string& where);

}  // namespace steptune
