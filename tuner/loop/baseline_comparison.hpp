// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/interval.hpp"
#include "search/scheduler.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "tuner/loop/trial_view.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {

/// Returns `measurement` in a form that is comparable with the baseline's measurement.
///
/// If the baseline showed no stall, leaves out rare stalls of search trials and sentinels: those
/// whose period the baseline's measurement did not cover twice. The baseline may have such stalls,
/// too. Returns other measurements unchanged: confirming runs are long enough to show rare stalls.
/// Also returns a measurement unchanged if its steps were not measured apart from stalls.
[[nodiscard]] Measurement compared_with_baseline(const TrialView& trial, Measurement measurement);

/// Returns the trial's objectives as measured so far. The error says what is missing.
[[nodiscard]] tl::expected<std::vector<MeasuredValue>, std::string> objectives_so_far(
    const TrialView& trial);

/// Converts `objectives`, as measured so far, for the scheduler.
[[nodiscard]] TrialEstimate estimate_so_far(const TrialView& trial,
                                            std::span<const MeasuredValue> objectives);

/// True if a search trial is certainly slower than the incumbent (`TrialTargets::to_beat`).
[[nodiscard]] bool is_clearly_slower(const TrialView& trial);

/// Returns why the program seems to use another batch size than the trial's configuration. Judges
/// by the measurement so far. Returns nullopt if the batch size may be right.
[[nodiscard]] std::optional<std::string> unlike_batch(const TrialView& trial,
                                                      const Measurement& measurement);

}  // namespace steptune
