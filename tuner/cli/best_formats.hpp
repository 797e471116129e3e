// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/exports/launch_formats.hpp"

namespace steptune {

/// A form in which `best` hands a configuration to other programs.
struct LaunchFormat {
  std::string name;
  std::string description;  ///< for the help text
};
/// Those of launchers, and one of each kind of runner whose provider is asked for long runs.
[[nodiscard]] std::vector<LaunchFormat> launch_formats();

/// Prints the choice in one of these forms; what the form leaves out is told on stderr.
[[nodiscard]] ExitCode print_launch_format(CommandContext& context, const StoredStudy& study,
                                           const BestChoice& choice, const std::string& format);

/// `steptune exec demo`: what starts a program with what the hook puts into it; with `--trial`
/// where the choice is best in an objective, which need not be the recommendation.
[[nodiscard]] std::string exec_words(const CommandContext& context, const BestChoice& choice);

}  // namespace steptune
