// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trial_runner/machine_second.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Returns the record of a trial that has ended, without its end time and its milestones. Removes
/// the file of the hook's events.
///
/// `machine`: the machine's figures for each second (`Outcome::machine`), thinned for the history.
/// `beside`: turns of the baseline's run in the trial's round, if any. In that case, the record has
/// the error of the trial's ratio to that run. The time of a search trial then follows from this
/// ratio and the baseline's time.
[[nodiscard]] TrialRecord ended_record(const TrialView& trial, const TrialEndCause& cause,
                                       const Outcome& outcome,
                                       std::span<const MachineSecond> machine,
                                       std::span<const Interval> beside);

}  // namespace steptune
