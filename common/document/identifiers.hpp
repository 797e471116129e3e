// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune::document {

/// Names of parameters and environment variables: `[A-Za-z_][A-Za-z0-9_]*`, at most 64 characters.
inline constexpr std::string_view k_identifier_pattern = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";
[[nodiscard]] bool is_identifier(std::string_view text);
/// Returns `text` as an identifier: `_` replaces each other character, and `prefix` comes first if
/// the result would be empty or start with a digit. Does not shorten it.
[[nodiscard]] std::string as_identifier(std::string_view text, std::string_view prefix);

/// Names of studies, which become file names: 1 to 64 characters of `[A-Za-z0-9._-]`, not starting
/// with `-` or `.`.
inline constexpr std::string_view k_study_name_pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$";
[[nodiscard]] bool is_study_name(std::string_view text);
/// True for metric names as trainers write them: `[A-Za-z_][A-Za-z0-9_.:/@-]*`, at most 128
/// characters.
[[nodiscard]] bool is_metric_name(std::string_view text);

/// Returns the identifiers in an expression, except those in quoted strings; may repeat.
[[nodiscard]] std::vector<std::string> identifiers_in(std::string_view expression);

}  // namespace steptune::document
