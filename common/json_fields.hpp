// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace steptune {

// Reading tolerates what versions, programs or disks left out or put there instead; where that is a
// fault, the caller says so. JSON has no NaN and no infinity: null stands for them.

/// Null where `value` is not finite, or there is none.
[[nodiscard]] Json number_or_null(double value);
[[nodiscard]] Json number_or_null(const std::optional<double>& value);
/// An array, with null for each number that is not finite.
[[nodiscard]] Json numbers_or_null(const std::vector<double>& values);

/// The number at `key`; nothing where there is none, or `json` is no object.
[[nodiscard]] std::optional<double> number_at(const Json& json, const char* key);
[[nodiscard]] double number_or_nan(const Json& json, const char* key);
/// A count of things, such as instances; nothing where the number at `key` is none.
[[nodiscard]] std::optional<int> count_at(const Json& json, const char* key);
/// The array at `key`, with NaN for each element that is no number; empty where there is none.
[[nodiscard]] std::vector<double> numbers_at(const Json& json, const char* key);
/// The string at `key`; empty where there is none.
[[nodiscard]] std::string text_at(const Json& json, const char* key);

/// A string as it is, anything else as JSON.
[[nodiscard]] std::string plain_text(const Json& value);

}  // namespace steptune
