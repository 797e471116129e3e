// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// Returns the words from the script, or from `-m`, to the end if the command is `python3 [-u]
/// script ...` or `python3 [-u] -m module ...`. nullopt for other programs, and for Python with
/// other options. `argv` must not be empty.
[[nodiscard]] std::optional<std::vector<std::string>> python_script(
    const std::vector<std::string>& argv);

/// Returns the launcher of distributed processes that a command starts, as a program or as a Python
/// module: `torchrun`, `accelerate`, `mpirun`, ...; nullopt if it starts none. `argv` must not be
/// empty.
[[nodiscard]] std::optional<std::string_view> launcher_in(const std::vector<std::string>& argv);

}  // namespace steptune
