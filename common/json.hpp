// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// Key order is kept: people read what we write.
using Json = nlohmann::ordered_json;

/// Reads JSON with `//` and `/* */` comments. Refuses duplicate keys, nesting deeper than 64
/// levels, documents over 16 MiB, and anything after the document. `where` names the source in
/// errors, which carry line and column or the JSON pointer.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& where);

/// `parse_json` of a file's content.
[[nodiscard]] Result<Json> read_json_file(const std::filesystem::path& path);

/// JSON text that every reader accepts whatever the strings hold: invalid UTF-8 becomes U+FFFD, and
/// non-finite numbers become the strings "nan", "inf" and "-inf". `indent` < 0 gives one line.
[[nodiscard]] std::string dump_json(const Json& json, int indent = -1);

/// `{"batch_size": 64, ...}` and back; types are kept. The reverse refuses nested values.
[[nodiscard]] Json to_json(const Configuration& configuration);
[[nodiscard]] Result<Configuration> configuration_from_json(const Json& json,
                                                            const std::string& where);

/// A JSON scalar as a parameter value; null, objects and arrays are errors.
[[nodiscard]] Result<Value> value_from_json(const Json& json, const std::string& where);
[[nodiscard]] Json to_json(const Value& value);

}  // namespace steptune
