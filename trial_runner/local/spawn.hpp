// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/error.hpp"

namespace steptune::local {

using Environment = std::map<std::string, std::string>;

struct SpawnRequest {
  std::vector<std::string> argv;  ///< not empty; argv[0] is looked up in the environment's PATH
  Environment environment;        ///< the complete environment
  std::filesystem::path working_directory;  ///< empty: this program's folder
  bool own_session = false;                 ///< true: new session; false: only a new process group
  int stdin_fd = -1;                        ///< -1: /dev/null
  int output_fd = -1;                       ///< stdout and stderr; -1: /dev/null
};

/// Starts a program as a child (`start_child` of common/child_process.hpp). The error is
/// `unavailable` if the system has no free process, memory or file descriptor. It is `runner`, with
/// the system's reason, if the program or its folder cannot be used.
[[nodiscard]] Result<pid_t> spawn(const SpawnRequest& request);

}  // namespace steptune::local
