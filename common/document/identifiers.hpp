// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune::document {

/// `[A-Za-z_][A-Za-z0-9_]*`, at most 64 characters: parameters and environment variables.
inline constexpr std::string_view k_identifier_pattern = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";
[[nodiscard]] bool is_identifier(std::string_view text);
/// `[A-Za-z0-9._-]`, 1 to 64 characters, not starting with `-` or `.`: studies, which name files.
inline constexpr std::string_view k_study_name_pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$";
[[nodiscard]] bool is_study_name(std::string_view text);
/// `[A-Za-z_][A-Za-z0-9_.:/@-]*`, at most 128 characters: metrics, as trainers call them.
[[nodiscard]] bool is_metric_name(std::string_view text);

/// The identifiers in an expression, quoted strings left out; with repetitions.
[[nodiscard]] std::vector<std::string> identifiers_in(std::string_view expression);

}  // namespace steptune::document
