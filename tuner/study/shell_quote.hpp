// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Words as one line for a POSIX shell, every byte as it is: for scripts, not for terminals, which
/// `shell_quoted` is for.
[[nodiscard]] std::string posix_quoted(const std::vector<std::string>& words);
[[nodiscard]] std::string posix_quoted(std::string_view word);

}  // namespace steptune
