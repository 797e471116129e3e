// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace steptune {

/// First word of a command line that asks what its last word may become, as shells do. Not shown to
/// people.
inline constexpr const char* k_complete_word = "__complete";

/// A script that has the program itself complete commands, options, their choices, and the names of
/// studies, trials, columns, objectives and parameters; files where it knows nothing. `shell` is
/// `bash`, `zsh` or `fish`.
[[nodiscard]] std::string completion_script(const std::string& shell);

struct Candidate {
  std::string word;
  std::string description;  ///< one line; may be empty
};

/// What the last of `words`, the command line after the program's name, may become: its prefix is
/// what was typed of it so far, and may be empty; an opening quote of it is no part of the answer.
/// Names come from `--db` of the line or `database`; a history that cannot be read has none, and
/// names that no terminal can show are left out.
[[nodiscard]] std::vector<Candidate> completions(const CLI::App& program,
                                                 const std::vector<std::string>& words,
                                                 const std::filesystem::path& database);

}  // namespace steptune
