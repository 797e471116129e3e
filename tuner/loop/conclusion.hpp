// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/error.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/pending_trials.hpp"
#include "tuner/loop/study_run.hpp"

namespace steptune {

/// Returns the result of a run whose search has ended (`StudyRun::end`), and records it: the
/// recommendation, and the reason for the end in words.
///
/// `expected_improvement`: from the searcher's latest suggestion. `left_running`: as in
/// `LoopResult`.
[[nodiscard]] Result<LoopResult> conclude_study(StudyRun& run, const PendingTrials& pending,
                                                std::optional<double> expected_improvement,
                                                std::string left_running);

}  // namespace steptune
