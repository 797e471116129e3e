// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptune {

/// The script and its words where the command is `python3 [-u] script ...` or `python3 -m module
/// ...`; nothing where it is another program, or Python with options of its own. `argv` is not
/// empty.
[[nodiscard]] std::optional<std::vector<std::string>> python_script(
    const std::vector<std::string>& argv);

/// The launcher of distributed processes that a command starts by itself, as a program or as a
/// module of Python: `torchrun`, `accelerate`, `mpirun`, ...; nothing where it starts none.
/// `argv` is not empty.
[[nodiscard]] std::optional<std::string_view> launcher_in(const std::vector<std::string>& argv);

}  // namespace steptune
