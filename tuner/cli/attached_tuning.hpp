// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/live/attached_program.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// Options of `exec --tune`, which tunes a program while it runs.
struct AttachedTuning {
  std::string name;               ///< name of the study
  std::vector<std::string> argv;  ///< the program's command
  /// Longest tuning time in seconds, without the time to survey the program.
  double longest_s = 0.0;
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  bool fresh = false;  ///< use the next free name if a study of this name exists
  bool quiet = false;  ///< print only errors and warnings
};

/// Tunes a running program with settings that can be switched while it runs and do not change the
/// training. At the end, the program keeps the settings that were shown to be faster. If none were,
/// it returns to its own settings. Keeps the study in the history. Prints the outcome on stderr.
/// The program continues even if the tuning fails.
void tune_attached(CommandContext& context, const AttachedTuning& tuning,
                   live::AttachedProgram& program);

}  // namespace steptune
