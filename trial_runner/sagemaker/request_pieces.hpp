// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Texts for containers, cut to the lengths that CreateTrainingJob takes (API Reference).
namespace steptune {

inline constexpr std::size_t k_longest_word = 256;             ///< member of ContainerArguments
inline constexpr std::size_t k_longest_variable = 512;         ///< value of Environment
inline constexpr std::size_t k_most_variables = 100;           ///< members of Environment
inline constexpr std::size_t k_longest_hyperparameter = 2500;  ///< value of HyperParameters

/// The pieces that together are `text`; no character of UTF-8 is cut in two.
[[nodiscard]] std::vector<std::string> pieces_of(std::string_view text, std::size_t longest);

/// Puts a script into variables, `NAME_1` and so on; the word with which a shell evaluates it.
[[nodiscard]] std::string put_script(std::string_view script, std::string_view name,
                                     std::map<std::string, std::string>& environment);

/// A shell script without what only its readers need: comments, indentation and empty lines.
[[nodiscard]] std::string without_comments(std::string_view script);

}  // namespace steptune
