// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Settings of one tuning that a user started on the command line.
struct StudyTuning {
  bool quiet = false;   ///< show no progress
  bool detach = false;  ///< on an interruption, leave running trials to the next run
  /// Command that continues the study after an interruption; empty: none.
  std::string continue_with;
  double inspected_s = 0.0;                   ///< time spent on examining the program
  std::optional<double> seen_startup_s = {};  ///< start-up time seen during that examination
};

/// Runs the study's loop with progress on stderr until it ends or `flags` has a signal. After the
/// first signal, prints once how the tuning ends. Errors: the runner cannot be made or cannot
/// detach; the loop's.
[[nodiscard]] Result<LoopResult> tune_study(CommandContext& context, const StudyTuning& tuning,
                                            const StudySpec& study, History& history,
                                            const SignalFlags& flags);

}  // namespace steptune
