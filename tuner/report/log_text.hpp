// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/error.hpp"

namespace steptune {

/// Reads the stored output of a trial, at most 64 MiB. `for_terminal` removes control characters
/// and ANSI sequences, except newlines and tabs, and replaces invalid UTF-8. Errors (`not_found`):
/// no output was kept (`path` is empty), or it cannot be read.
[[nodiscard]] Result<std::string> read_log(const std::filesystem::path& path, bool for_terminal);

}  // namespace steptune
