// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace steptune {

/// Says why a hook entered through PYTHONPATH cannot reach the Python program of this command, as
/// far as the command shows: `-I`, `-E` or `-S` (typed, or in a script's first line), `env -i`,
/// `sudo`, `docker run` without the variables. nullopt if it may reach it. Scripts are looked up in
/// `folder`.
[[nodiscard]] std::optional<std::string> why_out_of_reach(std::span<const std::string> argv,
                                                          const std::filesystem::path& folder);

/// True for programs that replace themselves by the one after their options: `env`, `nice`.
[[nodiscard]] bool hands_over(std::string_view word);

/// Returns the position of the program that such a program starts: 3 for `nice -n 10 ./train`.
/// Returns 0 for any other command, and if the position is uncertain.
[[nodiscard]] std::size_t handed_over_to(std::span<const std::string> argv);

/// True if the command starts a native executable by its path: an ELF file that does not mention
/// Python. No Python hook can enter it, so none needs to be tried.
[[nodiscard]] bool is_native_program(std::span<const std::string> argv,
                                     const std::filesystem::path& folder);

}  // namespace steptune
