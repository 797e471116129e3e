// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Returns the length in seconds that a measured trial's window needed for the precision of
/// `wanted`. For most trials this is the whole window. Only the baseline is measured for longer
/// than its precision needs (`measure_longer`).
[[nodiscard]] double window_for_precision_s(const MeasureSpec& wanted, const TrialRecord& trial);

/// Returns the price of the trial if it had been measured like a search trial. For the baseline,
/// subtracts the part of its window that its precision did not need (`window_for_precision_s`). Any
/// other trial, and a program that ended by itself, has its full price.
[[nodiscard]] TrialPrice price_of_repeat(const MeasureSpec& wanted, const TrialRecord& trial);

}  // namespace steptune
