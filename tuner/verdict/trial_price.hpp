// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the seconds of a measured trial's window that the precision of `wanted` needed. Only the
/// baseline's window is longer than that, because of its long look (`look_for_long`).
[[nodiscard]] double needed_window_s(const MeasureSpec& wanted, const TrialRecord& trial);

/// Returns the price of a search trial in place of this trial: for the baseline its price without
/// the long look, for any other trial its full price.
[[nodiscard]] TrialPrice price_without_long_look(const MeasureSpec& wanted,
                                                 const TrialRecord& trial);

}  // namespace steptune
