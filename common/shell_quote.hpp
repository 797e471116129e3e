// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// A word, or words as one line, for a POSIX shell: every byte but NUL as it is, quoted where it
/// must be. For scripts; terminals may take control characters for commands.
[[nodiscard]] std::string posix_quoted(std::string_view word);
[[nodiscard]] std::string posix_quoted(const std::vector<std::string>& words);

}  // namespace steptune
