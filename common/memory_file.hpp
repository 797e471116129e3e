// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/unique_fd.hpp"

namespace steptune {

/// Returns a file in memory that holds `text`, positioned at its beginning. Unlike a pipe it takes
/// any amount of data without a reader. Empty, with errno set, if the system cannot provide one.
[[nodiscard]] UniqueFd memory_file(const std::string& text = {});
/// Returns all that was written to it, at most 64 MiB.
[[nodiscard]] std::string text_of(const UniqueFd& memory_file);

}  // namespace steptune
