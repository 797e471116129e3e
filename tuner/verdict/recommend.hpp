// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// What to tell the user, from all trials of a study and what else it took; nothing if no trial
/// may win. Where fresh runs have not shown any configuration to be better, that is the baseline,
/// unless that violates a guard; before there are any, the best of the search.
/// `expected_improvement`: of the searcher's latest suggestion (`nothing_to_gain`).
[[nodiscard]] std::optional<Recommendation> recommend(
    const StudySpec& study, const Standing& standing, const StudyTotals& totals,
    std::optional<double> expected_improvement = std::nullopt);

}  // namespace steptune
