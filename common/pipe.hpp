// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// Both ends of a pipe. Children inherit neither of them (FD_CLOEXEC).
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

/// Makes a pipe. Returns an `unavailable` error if too many files are open.
[[nodiscard]] Result<Pipe> make_pipe();

/// Reads to the end of the stream. Drops bytes beyond `most` instead of closing the pipe, which
/// would kill the writer.
[[nodiscard]] std::string read_to_end(const UniqueFd& descriptor, std::size_t most);

}  // namespace steptune
