// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Runs a program to its end, in this program's group, and returns its standard output. Returns
/// nullopt if it could not be started, a signal ended it, or its exit status is not 0. Its errors
/// go to the stream `err` (`ChildRequest::err`). An empty `folder` is the current one.
[[nodiscard]] std::optional<std::string> run_to_end(std::vector<std::string> argv,
                                                    const std::filesystem::path& folder, int err);

}  // namespace steptune
