// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/clock.hpp"
#include "trial_runner/live/attached_program.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Name of an entry in `TrialStarted::placement`: the trial was measured in a running program.
inline constexpr const char* k_shared_program = "shared_program";

/// Measures trials with a `LiveTrial` in a running program, without starting or ending any process.
/// One trial at a time.
///
/// - If the baseline's level is known (`LiveTrial::baseline_seconds_per_sample`), a trial takes
///   turns with the baseline (live/paired_blocks.hpp). Otherwise (the baseline's first trial, or a
///   confirming trial), it is measured without turns until it is stopped.
/// - Between trials the baseline's settings apply.
/// - If the hook refuses settings, at once or later, the trial's hook events say so. The runner
///   does not react.
/// - Once the program is gone or unusable, the current trial and all further ones are `lost`.
/// - If the loss becomes infinite or NaN after a trial's settings were used, the program becomes
///   unusable. If only the current trial can be the cause, that trial is `failed`.
/// - A trial without a `LiveTrial` would need its own process, so it ends as `not_started`.
///
/// `program` must have made a step, so that all its ranks are connected. `clock` and `program`
/// outlive the runner.
[[nodiscard]] std::unique_ptr<Runner> make_attached_runner(const Clock& clock,
                                                           live::AttachedProgram& program);

}  // namespace steptune
