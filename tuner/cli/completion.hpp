// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace steptune {

/// A script that completes commands, options and files; made from the program's own definitions.
/// `shell` is `bash`, `zsh` or `fish`.
[[nodiscard]] std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace steptune
