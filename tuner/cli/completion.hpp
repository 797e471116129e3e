// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace steptune {

/// Hidden command with which a shell asks to complete the last word of a command line.
inline constexpr const char* k_complete_word = "__complete";

/// Returns a script for `bash`, `zsh` or `fish`. The script asks the program to complete commands,
/// options, their choices, and names: of studies, campaigns, trials, columns, objectives and
/// parameters. The script completes file names if the program has no candidates.
[[nodiscard]] std::string completion_script(const std::string& shell);

struct Candidate {
  std::string word;
  std::string description;  ///< one line; may be empty
};

/// Returns candidates for the last of `words` (the command line after the program's name). That
/// word is the typed prefix and may be empty; an opening quote is left out of the candidates. Reads
/// names from the line's `--db` or from `database`. If the history cannot be read, there are no
/// names. Names that a terminal cannot show are left out.
[[nodiscard]] std::vector<Candidate> completions(const CLI::App& program,
                                                 const std::vector<std::string>& words,
                                                 const std::filesystem::path& database);

}  // namespace steptune
