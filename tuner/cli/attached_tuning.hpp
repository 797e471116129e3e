// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/live/attached_program.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// What `exec --tune` is to do beside a program that runs.
struct AttachedTuning {
  std::string name;               ///< of the study
  std::vector<std::string> argv;  ///< the program's command
  double longest_s = 0.0;         ///< of tuning, once the program is known
  std::optional<double> samples_per_step = {};
  std::optional<double> planned_samples = {};
  bool fresh = false;  ///< the next free name, where a study of this one exists
  bool quiet = false;  ///< tell errors and warnings only
};

/// Tunes a program that runs, with what can be switched and leaves the training as it is; leaves it
/// with what was shown to be faster, else with its own settings, and the study in the history.
/// Tells on stderr what comes of it. The program goes on whatever happens here.
void tune_attached(CommandContext& context, const AttachedTuning& tuning,
                   live::AttachedProgram& program);

}  // namespace steptune
