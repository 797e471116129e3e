// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace steptune {

/// Says why a hook entered through PYTHONPATH cannot reach the Python program of this command, as
/// far as the command shows: `-I`, `-E` or `-S` (typed, or in a script's first line), `env -i`,
/// `sudo`, `docker run` without the variables. nullopt if it may reach it. Scripts are looked up in
/// `folder`.
[[nodiscard]] std::optional<std::string> why_out_of_reach(std::span<const std::string> argv,
                                                          const std::filesystem::path& folder);

/// True if the command starts a native executable by its path: an ELF file that does not mention
/// Python. No Python hook can enter it, so none needs to be tried.
[[nodiscard]] bool is_native_program(std::span<const std::string> argv,
                                     const std::filesystem::path& folder);

}  // namespace steptune
