// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/live/attached_program.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// In `TrialStarted::placement` of a trial that was measured in a running program.
inline constexpr const char* k_shared_program = "shared_program";

/// Measures trials with a `LiveTrial` in a program that runs for its own sake: nothing is started
/// and nothing is ended. One trial at a time.
///
/// - A trial with a level takes turns with the baseline (live/paired_blocks.hpp). One without (the
///   baseline's first, and what confirms) is measured as it is, until it is stopped.
/// - After a trial the baseline is in force until the next one.
/// - What the hook refuses, also later, is told in the trial's hook events; nothing is done about
///   it here.
/// - Once the program is gone, a trial under way and each further one is `lost`.
/// - `not_started`: a trial without a `LiveTrial`, which would need a process of its own.
///
/// `program` has made a step, so that all its ranks are there. `clock` and `program` outlive the
/// runner.
[[nodiscard]] std::unique_ptr<Runner> make_attached_runner(const Clock& clock,
                                                           live::AttachedProgram& program);

}  // namespace steptune
