// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace steptune {

/// The SQLite library in use.
[[nodiscard]] std::string sqlite_version();

/// The Bayesian searcher's module beside this program, if it is installed. Does not load it.
[[nodiscard]] std::optional<std::filesystem::path> find_bayes_module();

/// The file that the dynamic linker takes for a library name, with all links followed. Loads the
/// library.
[[nodiscard]] std::optional<std::filesystem::path> resolve_library(const std::string& name);

}  // namespace steptune
