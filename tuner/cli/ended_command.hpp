// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace steptune {

/// Result of a program that ran to its end.
struct EndedCommand {
  int status = -1;  ///< exit code; -1: it could not be started, or a signal ended it
  std::string out;
};

/// Runs a program to its end, in this program's group, and returns its standard output. Its
/// errors go to the stream `err` (`ChildRequest::err`). An empty `folder` is the current one.
[[nodiscard]] EndedCommand run_to_end(std::vector<std::string> argv,
                                      const std::filesystem::path& folder, int err);

}  // namespace steptune
