// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Wraps `runner` so that suitable trials (`TrialSpec::forked_modules`) are forked from an
/// interpreter that has already imported their modules. First checks that forking changes no loss:
///
/// - Such trials start normally until one that reported its first losses has ended. Its hook has
///   also reported the program's imports.
/// - Before the next such trial, the configuration of that trial runs again, forked (trial -1, log
///   `fork-check.log`). This check ends when its first losses are known. If they equal the losses
///   of the normal start to the last bit, all further such trials are forked.
/// - Otherwise all trials start normally, and a log line (level info) says why. Possible reasons:
///   losses differ, as in a program without a seed; losses are unknown; the process cannot be
///   forked; the check would take too long, because steps are long compared with the start.
/// - Interleaved trials always start normally.
///
/// `clock` outlives the runner.
[[nodiscard]] std::unique_ptr<Runner> make_forked_runner(const Clock& clock,
                                                         std::unique_ptr<Runner> runner);

}  // namespace steptune
