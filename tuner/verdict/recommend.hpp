// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the recommendation from all trials of a study, its tuning time and its costs apart from
/// trials (`StudyRecord`); nullopt if no trial may win. Before there are fresh runs, recommends the
/// best trial of the search. If fresh runs have not shown a better configuration, recommends the
/// baseline, unless the baseline violates a guard. `expected_improvement`: from the searcher's
/// latest suggestion (`nothing_to_gain`). `is_over`: as for `Confirmation`.
[[nodiscard]] std::optional<Recommendation> recommend(
    const StudySpec& study, const Standing& standing, double elapsed_s, double overhead_usd,
    std::optional<double> expected_improvement = std::nullopt, bool is_over = false);

}  // namespace steptune
