// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "common/clock.hpp"
#include "trial_runner/live/live_channel.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// In `TrialStarted::placement` of a trial that was measured in a shared program: that one's log.
inline constexpr const char* k_shared_program = "shared_program";

/// Measures trials with a `LiveTrial` in one running program, in blocks that take turns with blocks
/// of the baseline; all others, and what the program's hook refuses, are handed to `fresh` as they
/// are, once the program has ended. One trial at a time.
///
/// - The program is a launch of `fresh` like any other (trial 0, attempts counted), under PyTorch's
///   hook in mode `live`: same limits, same end. When it ends in mid-trial by itself, the next one
///   is started and the trial goes on. When it fails, so does the trial.
/// - A trial's reports tell time as it would have passed at the baseline's level
///   (live/paired_blocks.hpp), no start-up (`TrialStarted::program_startup_s` is the program's),
///   and no metrics: the loss is that of one training.
/// - A trial whose settings are no longer in force tells so in its hook events.
/// - A program of several processes without ranks, whose steps cannot be told apart, leaves all
///   further trials to `fresh`.
/// - A program that ends without having shown a pair of blocks (while the baseline is measured, a
///   block) leaves all further trials to `fresh`: its next run would be as short.
///
/// `clock` outlives the runner.
[[nodiscard]] std::unique_ptr<Runner> make_live_runner(const Clock& clock,
                                                       std::unique_ptr<Runner> fresh);

}  // namespace steptune
