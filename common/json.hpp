// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// JSON that keeps the order of keys, because people read the files.
using Json = nlohmann::ordered_json;

/// Most levels of objects and lists in a document (JSON, YAML).
inline constexpr int k_max_nesting = 64;
/// Largest document, in bytes.
inline constexpr std::size_t k_max_document_bytes = std::size_t{16} << 20;

/// Parses JSON with `//` and `/* */` comments. Refuses duplicate keys, nesting deeper than 64
/// levels, documents over 16 MiB, and text after the document. Errors name the source `where`; a
/// syntax error also names the line and column.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& where);

/// Reads and parses a file.
[[nodiscard]] Result<Json> read_json_file(const std::filesystem::path& path);

/// Returns JSON text that every reader accepts. Invalid UTF-8 becomes U+FFFD; non-finite numbers
/// become the strings "nan", "inf" and "-inf". `indent` < 0 gives one line.
[[nodiscard]] std::string dump_json(const Json& json, int indent = -1);

/// Converts a configuration to and from `{"batch_size": 64, ...}`. Keeps the types of values. A
/// nested value is an error.
[[nodiscard]] Json to_json(const Configuration& configuration);
[[nodiscard]] Result<Configuration> configuration_from_json(const Json& json,
                                                            const std::string& where);

/// Returns a JSON scalar as a parameter's value. Null, objects and arrays are errors.
[[nodiscard]] Result<Value> value_from_json(const Json& json, const std::string& where);
[[nodiscard]] Json to_json(const Value& value);

}  // namespace steptune
