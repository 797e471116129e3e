// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Quotes a word, or words as one line, for a POSIX shell. Texts must not contain NUL, which shells
/// drop. Use the result in scripts; do not print it: terminals may interpret control characters.
[[nodiscard]] std::string posix_quoted(std::string_view word);
[[nodiscard]] std::string posix_quoted(const std::vector<std::string>& words);

}  // namespace steptune
