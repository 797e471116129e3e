// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace steptune::aws {

/// Reads environment variables; empty ones count as absent, as AWS's own tools treat them.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// This process's environment.
[[nodiscard]] Environment process_environment();

/// HOME, or an empty path.
[[nodiscard]] std::filesystem::path home_folder(const Environment& environment);

}  // namespace steptune::aws
