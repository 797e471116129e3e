// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "search/scheduler.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/trial_view.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {

// In this file, `baseline` is null until the baseline has been measured.

/// Returns the trial's measurement; null without a trial or measurement.
[[nodiscard]] const Measurement* measurement_of(const TrialRecord* trial);

/// Returns a measurement of the trial as it is compared with the baseline's.
///
/// For trials beside the baseline, leaves out stalls that are too rare for the time that the
/// baseline was watched. The baseline may have such stalls, too. Fresh runs watch both for long
/// enough, so their measurement does not change.
[[nodiscard]] Measurement compared_with_baseline(const TrialView& trial, Measurement measurement,
                                                 const TrialRecord* baseline);

/// Returns the trial's objectives as measured so far. The error says what is missing.
[[nodiscard]] tl::expected<ObjectiveValues, std::string> objectives_so_far(
    const TrialView& trial, const TrialRecord* baseline);

/// Converts `objectives`, as measured so far, for the scheduler.
[[nodiscard]] TrialEstimate estimate_so_far(const TrialView& trial,
                                            const ObjectiveValues& objectives);

/// True if a search trial is certainly slower than the incumbent (`TrialTargets::to_beat`).
[[nodiscard]] bool is_clearly_slower(const TrialView& trial, const TrialRecord* baseline);

/// Returns why the samples of a step differ from those in the study, as far as the trial was
/// measured; nullopt if they may be right.
[[nodiscard]] std::optional<std::string> unlike_batch(const TrialView& trial,
                                                      const Measurement& measurement,
                                                      const TrialRecord* baseline);

}  // namespace steptune
