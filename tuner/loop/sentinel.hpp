// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Whether the baseline is to run again now, to see whether the machine drifts: after 10, 20, 40,
/// ... trials of the search, more often once it does, and when the search is over, if enough trials
/// ran since; as long as all sentinels take no more than 5 % of what the search takes, or 10 %
/// where there is a drift and after the search. Never where the first objective is no time or cost,
/// where the study does without (`measure.sentinels`), and while one is under way. A function of
/// the trials alone.
[[nodiscard]] bool sentinel_is_due(const StudySpec& study, const Standing& standing,
                                   bool search_is_over);

/// What a sentinel is expected to take, as the ones before it or the trials of the search did.
[[nodiscard]] double expected_sentinel_s(const StudySpec& study, const Standing& standing);

/// What a sentinel is measured for, from what a trial of the search is: half its time will do, and
/// no more precision than launches differ by.
[[nodiscard]] MeasureSpec sentinel_measure(MeasureSpec measure);

}  // namespace steptune
