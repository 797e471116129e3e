// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Texts for containers, cut to the lengths that CreateTrainingJob allows (`service_limits.hpp`).
namespace steptune {

/// Cuts `text` into pieces of at most `longest` bytes, never inside a UTF-8 character.
[[nodiscard]] std::vector<std::string> pieces_of(std::string_view text, std::size_t longest);

/// Stores a script in variables, `NAME_1` and so on. Returns the shell command that runs it.
[[nodiscard]] std::string put_script(std::string_view script, std::string_view name,
                                     std::map<std::string, std::string>& environment);

/// Returns a shell script without comments, indentation and empty lines.
[[nodiscard]] std::string without_comments(std::string_view script);

}  // namespace steptune
