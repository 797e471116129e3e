// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune::slurm {

struct Streams {
  int in = -1;  ///< -1: /dev/null, for each
  int out = -1;
  int err = -1;
};

/// Starts a program, looked up in PATH, in a session of its own: signals of this program's terminal
/// do not reach it. `environment` is all of it, `NAME=value`.
[[nodiscard]] Result<pid_t> start_child(const std::vector<std::string>& argv,
                                        const std::vector<std::string>& environment,
                                        const Streams& streams);

/// A file in memory that holds `text`, to be read from its beginning.
[[nodiscard]] UniqueFd memory_file(const std::string& text = {});
/// All that was written to it, at most 64 MiB.
[[nodiscard]] std::string text_of(const UniqueFd& memory_file);

}  // namespace steptune::slurm
