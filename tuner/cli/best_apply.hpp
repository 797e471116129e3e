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

/// Replaces control characters in text from files and studies by `?`, except line breaks and tabs,
/// if stdout is a terminal: they could control it. Otherwise returns the text unchanged.
[[nodiscard]] std::string shown(const std::string& text);

/// Returns commands that write the choice into the study's configuration files, for each file that
/// differs from it: `steptune best demo --apply ds.json`. `study` is its name, quoted for a shell.
[[nodiscard]] std::vector<std::string> pending_edits(const BestChoice& choice,
                                                     const std::string& study);

/// Writes the choice's parameters into a configuration file, after showing the difference and
/// asking the user. In a file that the study edits, writes them at the study's keys. Without a
/// terminal and without `yes` it writes nothing and returns an error.
[[nodiscard]] ExitCode apply_best(CommandContext& context, const BestChoice& choice,
                                  const ApplyOptions& options);

}  // namespace steptune
