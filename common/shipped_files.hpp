// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// Data files and helpers that are installed with the program.
enum class ShippedKind {
  helper,  ///< programs that users do not call: `PREFIX/libexec/steptune`
  config,  ///< schema, presets, price tables: `PREFIX/share/steptune/configs`
  hook,    ///< modules loaded into training programs: `PREFIX/share/steptune/hooks`
};

/// Returns the folders in which files of a kind are searched, in order. The first folders are below
/// the prefix of the running program (`PREFIX/bin/steptune`). The program may be in a build tree or
/// a moved installation. The other folders are below the prefix that was configured for the build.
[[nodiscard]] std::vector<std::filesystem::path> shipped_directories(ShippedKind kind);

/// Returns the first regular file `name` in `directories`. `name` may include folders
/// (`prices/x.json`).
[[nodiscard]] std::optional<std::filesystem::path> find_file(
    const std::vector<std::filesystem::path>& directories, const std::filesystem::path& name);

/// Returns the JSON files in the folder `name` of `configs`, sorted. Uses the first of the
/// `shipped_directories` that has any.
[[nodiscard]] std::vector<std::filesystem::path> shipped_json_files(
    const std::filesystem::path& name);

/// Finds a helper program by name. The error names the folders that were searched and the helper's
/// `purpose`: `which ends the trials if this program is killed`.
[[nodiscard]] Result<std::filesystem::path> find_helper(const std::string& name,
                                                        const std::string& purpose);

/// Returns the directories separated by commas, for messages; "no directory" if there is none.
[[nodiscard]] std::string directories_text(const std::vector<std::filesystem::path>& directories);

}  // namespace steptune
