// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Function that returns the value of an environment variable. Returns nullopt if the variable is
/// unset or empty, because users, shells and AWS's tools treat both alike. The program passes the
/// real environment; tests pass their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns this process's environment.
[[nodiscard]] Environment process_environment();

/// Returns HOME if it is an absolute path.
[[nodiscard]] std::optional<std::filesystem::path> home_directory(const Environment& environment);

/// Returns the directories of a variable such as PATH, which separates them by colons. Empty
/// entries are left out.
[[nodiscard]] std::vector<std::filesystem::path> directory_list(const Environment& environment,
                                                                const std::string& variable);

}  // namespace steptune
