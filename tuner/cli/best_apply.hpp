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

/// If stdout is a terminal, replaces control characters by `?`, except line breaks and tabs. Text
/// from files and studies could otherwise control the terminal.
[[nodiscard]] std::string shown(const std::string& text);

/// Returns commands that write the choice into the study's configuration files:
/// `steptune best demo --apply ds.json`. There is one command for each file that differs from the
/// choice. `study` is the study's name, quoted for a shell.
[[nodiscard]] std::vector<std::string> pending_edits(const BestChoice& choice,
                                                     const std::string& study);

/// Writes the choice's parameters into a configuration file, after showing the difference and
/// asking the user. In a file that the study edits, writes them at the study's keys. Without a
/// terminal and without `yes` it writes nothing and returns an error.
[[nodiscard]] ExitCode apply_best(CommandContext& context, const BestChoice& choice,
                                  const ApplyOptions& options);

}  // namespace steptune
