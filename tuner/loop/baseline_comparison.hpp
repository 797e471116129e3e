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
/// If the baseline showed no stall, leaves out the rare stalls of a search trial or a sentinel. A
/// stall is rare if the baseline's measurement covered less than two of its periods. Then the
/// baseline may have the stall, too. Does not change confirming runs, which are long enough to show
/// rare stalls. Does not change a measurement whose steps were not measured apart from stalls.
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
