// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/exports/launch_formats.hpp"

namespace steptune {

/// A format in which `best` prints a configuration for other programs.
struct LaunchFormat {
  std::string name;
  std::string description;  ///< shown by --help
};
/// Returns the formats of launchers, and one for each kind of runner that can request long runs.
[[nodiscard]] std::vector<LaunchFormat> launch_formats();

/// Prints the choice in one of these formats. Prints on stderr what the format leaves out.
[[nodiscard]] ExitCode print_launch_format(CommandContext& context, const StoredStudy& study,
                                           const BestChoice& choice, const std::string& format);

/// Returns `steptune exec demo`, which starts a program with the hook's settings. Adds `--trial` if
/// the user chose the best trial of an objective, because that may not be the recommended trial.
[[nodiscard]] std::string exec_words(const CommandContext& context, const BestChoice& choice);

}  // namespace steptune
