// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Returns this program's environment for `argv`, as `NAME=value`, with `variables` added or
/// replaced. For a launcher, leaves out variables that describe this program's own rank.
[[nodiscard]] std::vector<std::string> child_environment(
    const std::vector<std::string>& argv, const std::map<std::string, std::string>& variables);

/// Runs a program to its end, in this program's group, and returns its standard output. Returns
/// nullopt if the program could not be started, if a signal ended it, or if its exit status is not
/// 0. The program's stderr is the stream `err` (`ChildRequest::err`). An empty `folder` is the
/// current one.
[[nodiscard]] std::optional<std::string> run_to_end(std::vector<std::string> argv,
                                                    const std::filesystem::path& folder, int err);

}  // namespace steptune
