// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "common/error.hpp"

namespace steptune {

/// The kept output of a trial. `for_terminal` removes what could command a terminal (control
/// characters and ANSI sequences but newlines and tabs) and replaces invalid UTF-8. At most 64 MiB.
/// Errors (`not_found`): none was kept (`path` is empty), or it cannot be read.
[[nodiscard]] Result<std::string> read_log(const std::filesystem::path& path, bool for_terminal);

}  // namespace steptune
