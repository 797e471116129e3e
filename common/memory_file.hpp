// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/unique_fd.hpp"

namespace steptune {

/// Returns a file in memory that contains `text`, positioned at its beginning. Unlike a pipe, the
/// file accepts any amount of data without a reader. Empty, with errno set, if the system cannot
/// create the file.
[[nodiscard]] UniqueFd memory_file(const std::string& text = {});
/// Returns the file's content, at most `k_max_document_bytes`.
[[nodiscard]] std::string text_of(const UniqueFd& memory_file);

}  // namespace steptune
