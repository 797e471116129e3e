// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Returns the measurement that counts for a trial that has ended.
///
/// If the program ended by itself, with at least half of the baseline's samples or steps, this is
/// the measurement of the whole run. Otherwise it is the measurement so far, adapted to the cause
/// of the end.
[[nodiscard]] Measurement final_measurement(const TrialView& trial, const TrialEndCause& cause,
                                            const Outcome& outcome);

}  // namespace steptune
