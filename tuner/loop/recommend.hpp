// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The trials that may win and whose configuration no confirming run has refuted.
[[nodiscard]] std::vector<const TrialRecord*> candidates(const StudySpec& study,
                                                         const std::vector<TrialRecord>& trials);

/// The incumbent by the search trials (see `choose_incumbent`); null if nothing may win.
[[nodiscard]] const TrialRecord* find_incumbent(const StudySpec& study,
                                                const std::vector<TrialRecord>& trials);

/// The baseline's trial that was measured, else null.
[[nodiscard]] const TrialRecord* find_baseline(const std::vector<TrialRecord>& trials);

/// What to tell the user, from all trials of a study and what else it took; nothing if no trial
/// may win. A confirmation that shows the incumbent no better than the baseline makes the baseline
/// the winner, unless that violates a guard.
[[nodiscard]] std::optional<Recommendation> recommend(const StudySpec& study,
                                                      const std::vector<TrialRecord>& trials,
                                                      const StudyTotals& totals);

}  // namespace steptune
