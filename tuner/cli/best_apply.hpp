// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/best_choice.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

struct ApplyOptions {
  std::string file;
  std::vector<std::string> keys;  ///< `PARAMETER=KEY`
  bool dry_run = false;
  bool yes = false;  ///< write without asking
};

/// What comes from files and studies, for stdout: nothing in it drives a terminal, where `?` stands
/// for control characters other than line breaks and tabs; elsewhere it is unchanged.
[[nodiscard]] std::string shown(const std::string& text);

/// The commands that bring those of the study's configuration files that say something else up to
/// the choice: `steptune best demo --apply ds.json`. `study`: its name, as words of a shell.
[[nodiscard]] std::vector<std::string> pending_edits(const BestChoice& choice,
                                                     const std::string& study);

/// Writes the choice's parameters into a configuration file, those of a file that the study edits
/// where the study says, once the difference was shown and the user agreed. Without a terminal and
/// without `yes` nothing is written, which is an error.
[[nodiscard]] ExitCode apply_best(CommandContext& context, const BestChoice& choice,
                                  const ApplyOptions& options);

}  // namespace steptune
