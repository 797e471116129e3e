// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/live/attached_program.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Fact of `TrialStarted::placement`: the trial was measured in a running program.
inline constexpr const char* k_shared_program = "shared_program";

/// Measures trials with a `LiveTrial` in a running program, without starting or ending any process.
/// One trial at a time.
///
/// - A trial with a level takes turns with the baseline (live/paired_blocks.hpp). A trial without
///   one (the baseline's first, or a confirming trial) is measured without turns until it is
///   stopped.
/// - Between trials the baseline's settings apply.
/// - If the hook refuses settings, even later, the trial's hook events contain it; the runner does
///   not react.
/// - Once the program is gone, the current trial and all further ones are `lost`.
/// - A trial without a `LiveTrial` would need its own process, and ends as `not_started`.
///
/// `program` must have made a step, so that all its ranks are connected. `clock` and `program`
/// outlive the runner.
[[nodiscard]] std::unique_ptr<Runner> make_attached_runner(const Clock& clock,
                                                           live::AttachedProgram& program);

}  // namespace steptune
