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

/// Writes the choice's parameters into a configuration file, once the difference was shown and the
/// user agreed. Without a terminal and without `yes` nothing is written, which is an error.
[[nodiscard]] ExitCode apply_best(CommandContext& context, const BestChoice& choice,
                                  const ApplyOptions& options);

}  // namespace steptune
