// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune {

// These readers tolerate missing or malformed values, which files of other versions and damaged
// files may have. Callers that need a value must check for it. NaN and infinity are written as
// null, because JSON has neither.

/// Returns null if `value` is absent or not finite.
[[nodiscard]] Json number_or_null(double value);
[[nodiscard]] Json number_or_null(const std::optional<double>& value);
/// Returns null for an empty text.
[[nodiscard]] Json text_or_null(const std::string& text);
/// Returns an array with null for each number that is not finite.
[[nodiscard]] Json numbers_or_null(const std::vector<double>& values);

/// Returns the number at `key`, or nullopt if there is none or `json` is no object.
[[nodiscard]] std::optional<double> number_at(const Json& json, const char* key);
/// Returns a count of things, such as instances; nullopt if the number at `key` is no count.
[[nodiscard]] std::optional<int> count_at(const Json& json, const char* key);
/// Returns the array at `key`, with NaN for each element that is no number; empty if absent.
[[nodiscard]] std::vector<double> numbers_at(const Json& json, const char* key);
/// Returns the string at `key`; empty if there is none.
[[nodiscard]] std::string text_at(const Json& json, const char* key);

/// Returns a string unchanged, any other value as JSON text.
[[nodiscard]] std::string plain_text(const Json& value);

}  // namespace steptune
