// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Quotes a word, or words as one line, for a POSIX shell. Keeps every byte except NUL. Use the
/// result in scripts; do not print it, because terminals may interpret its control characters.
[[nodiscard]] std::string posix_quoted(std::string_view word);
[[nodiscard]] std::string posix_quoted(const std::vector<std::string>& words);

}  // namespace steptune
