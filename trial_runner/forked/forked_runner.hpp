// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Lets `runner` fork the trials that may be (`TrialSpec::forked`), once that has been shown to
/// make no difference:
///
/// - The first such trial is started anew. Its hook tells the first losses, and which modules the
///   program imports.
/// - Before the next one the same configuration is started again, forked (trial -1, its log is
///   `fork-check.log`), and ended as soon as its first losses are known. Where they are equal to
///   the last bit, trials are forked from then on.
/// - Where they are not, or are not told or not known, or the process cannot be forked, or the
///   check would take longer than it can spare (steps are long beside the start), all trials are
///   started anew; a line of the log (level info) says why. A program without a seed is such a one.
///
/// `clock` outlives the runner.
[[nodiscard]] std::unique_ptr<Runner> make_forked_runner(const Clock& clock,
                                                         std::unique_ptr<Runner> runner);

}  // namespace steptune
