// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "common/error.hpp"

namespace steptune::slurm {

struct Streams {
  int in = -1;  ///< for each stream, -1: /dev/null
  int out = -1;
  int err = -1;
};

/// Starts a program, looked up in PATH, in its own session, so that signals of this program's
/// terminal do not reach it. `environment` is complete, as `NAME=value`.
[[nodiscard]] Result<pid_t> start_child(const std::vector<std::string>& argv,
                                        const std::vector<std::string>& environment,
                                        const Streams& streams);

}  // namespace steptune::slurm
