// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/unique_fd.hpp"

namespace steptune {

/// A file in memory that holds `text`, to be read from its beginning: unlike a pipe it holds all,
/// whether or not anybody reads. Empty, with errno set, where the system has no room for one.
[[nodiscard]] UniqueFd memory_file(const std::string& text = {});
/// All that was written to it, at most 64 MiB.
[[nodiscard]] std::string text_of(const UniqueFd& memory_file);

}  // namespace steptune
