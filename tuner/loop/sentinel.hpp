// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Share of a study's time or money for measuring the baseline longer or again.
inline constexpr double k_share_for_baseline = 0.05;
/// Largest share of the search's time for repeated trials if they are needed: the machine drifts,
/// or a trial was disturbed.
inline constexpr double k_most_share_for_repeats = 0.1;

/// True if the baseline is to run again now, to show if the machine drifts. A sentinel is due after
/// 10, 20, 40, ... search trials, and more often once the machine drifts. Another one is due after
/// the search if enough trials have run since the last sentinel. All sentinels together take at
/// most 5 % of the search's time. The limit is 10 % if the machine drifts, and after the search.
///
/// False if the first objective is neither time nor cost, or if the study excludes sentinels
/// (`measure.sentinels`). Also false while a sentinel runs. The result depends only on the recorded
/// trials, so a resumed study decides the same.
[[nodiscard]] bool sentinel_is_due(const StudySpec& study, const Standing& standing,
                                   bool search_is_over);

/// Returns the expected seconds of a sentinel: the mean of earlier sentinels, or of search trials.
[[nodiscard]] double expected_sentinel_s(const StudySpec& study, const Standing& standing);

/// Returns the measurement targets of a sentinel: those of a search trial with half the time, and a
/// relative half-width of at least 2 %.
[[nodiscard]] MeasureSpec sentinel_measure(MeasureSpec measure);

}  // namespace steptune
