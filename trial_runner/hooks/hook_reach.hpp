// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace steptune {

/// Why a hook that is entered through PYTHONPATH cannot reach the Python program that this command
/// starts, as far as the command shows: `-I`, `-E` or `-S`, typed or in the first line of a script,
/// `env -i`, `sudo`, `docker run` without its variables. Nothing where it may. A script is looked
/// for in `folder`.
[[nodiscard]] std::optional<std::string> why_out_of_reach(std::span<const std::string> argv,
                                                          const std::filesystem::path& folder);

/// True if the command starts a native executable by its path: an ELF file that links no libpython
/// and mentions Python nowhere. No hook of Python enters it, so none needs to be tried.
[[nodiscard]] bool is_native_program(std::span<const std::string> argv,
                                     const std::filesystem::path& folder);

}  // namespace steptune
