// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune {

/// What is shipped beside the program itself.
enum class ShippedKind {
  helper,  ///< programs that are not for people: `PREFIX/libexec/steptune`
  config,  ///< schema, presets, price tables: `PREFIX/share/steptune/configs`
  hook,    ///< what is put into training programs: `PREFIX/share/steptune/hooks`
};

/// Where files of a kind are looked for, in order: below the prefix from which this program runs
/// (it lies in `PREFIX/bin`, in a build tree as in an installation that was moved), then below the
/// prefix that the build was configured for.
[[nodiscard]] std::vector<std::filesystem::path> shipped_directories(ShippedKind kind);

/// The first regular file of that name, which may hold folders (`prices/x.json`), in `directories`.
[[nodiscard]] std::optional<std::filesystem::path> find_file(
    const std::vector<std::filesystem::path>& directories, const std::filesystem::path& name);

/// A helper by its name. An error names the directories that it was looked for in; `purpose` says
/// there what it does: `which ends the trials if this program is killed`.
[[nodiscard]] Result<std::filesystem::path> find_helper(const std::string& name,
                                                        const std::string& purpose);

/// The directories with commas between, for messages; "no directory" if there is none.
[[nodiscard]] std::string directories_text(const std::vector<std::filesystem::path>& directories);

}  // namespace steptune
