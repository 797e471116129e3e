// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"

namespace steptune {

/// `usage` if the file of `--stdin` cannot be read. Empty: none was given.
[[nodiscard]] Result<void> check_input_file(const std::string& file);

/// Makes the file this process's standard input, for what it becomes. Empty: leaves it as it is.
[[nodiscard]] Result<void> take_input_from(const std::string& file);

}  // namespace steptune
