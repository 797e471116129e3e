// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// The value of an environment variable; nothing if it is not set or empty, which users, shells and
/// AWS's own tools mean as the same. The program passes the real environment, tests pass their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// This process's environment.
[[nodiscard]] Environment process_environment();

/// HOME, if it is an absolute path.
[[nodiscard]] std::optional<std::filesystem::path> home_directory(const Environment& environment);

/// The directories of a variable that lists them with colons between, such as PATH; empty ones are
/// left out.
[[nodiscard]] std::vector<std::filesystem::path> directory_list(const Environment& environment,
                                                                const std::string& variable);

}  // namespace steptune
