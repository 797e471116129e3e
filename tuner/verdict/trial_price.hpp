// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Seconds of a measured trial's window that the precision took which `wanted`, the study's, asks
/// for. The baseline's window is longer than that: none of the others is looked at for as long
/// (`look_for_long`).
[[nodiscard]] double needed_window_s(const MeasureSpec& wanted, const TrialRecord& trial);

/// What a trial of the search would have taken in this one's place: the baseline without its longer
/// look, any other all that it took.
[[nodiscard]] TrialPrice price_without_long_look(const MeasureSpec& wanted,
                                                 const TrialRecord& trial);

}  // namespace steptune
