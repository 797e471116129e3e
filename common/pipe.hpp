// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace steptune
