// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"

namespace steptune {

/// Returns an error (`usage`) if the file of `--stdin` cannot be read. An empty name means none was
/// given.
[[nodiscard]] Result<void> check_input_file(const std::string& file);

/// Makes the file this process's standard input. Call it before this process becomes another
/// program. An empty name changes nothing.
[[nodiscard]] Result<void> take_input_from(const std::string& file);

}  // namespace steptune
