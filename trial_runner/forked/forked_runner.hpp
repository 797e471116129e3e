// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Wraps `runner` so that suitable trials (`TrialSpec::forked`) are forked, after a check that
/// forking changes nothing:
///
/// - The first such trial starts normally. Its hook reports the first losses and the program's
///   imports.
/// - Before the next one, the same configuration runs again, forked (trial -1, log
///   `fork-check.log`), and is ended when its first losses are known. If they are equal to the last
///   bit, all further trials are forked.
/// - Otherwise all trials start normally, and a log line (level info) says why. Losses may differ
///   or be unknown, as in a program without a seed. The process may be impossible to fork. Or the
///   check would take too long, because steps are long compared with the start.
///
/// `clock` outlives the runner.
[[nodiscard]] std::unique_ptr<Runner> make_forked_runner(const Clock& clock,
                                                         std::unique_ptr<Runner> runner);

}  // namespace steptune
