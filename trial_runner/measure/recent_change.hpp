// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// Whether the last intervals of a stretch are slower or faster than the rest of it by what chance
/// does once in twenty, and by more than as many in a row are anywhere before (else it is how the
/// steps are: periods, heavy tails). Too little for a change of level (`find_level_shifts`), but a
/// reason to look again.
///
/// The largest difference over all ends of five intervals or more and half of the samples or less,
/// in the standard error that it has if the whole mean's is known: M. Csorgo and L. Horvath, Limit
/// Theorems in Change-Point Analysis, Wiley 1997, section 1.3 (tail of the largest weighted
/// Brownian bridge). False where the rate's own error is not known.
[[nodiscard]] bool may_have_just_changed(std::span<const Interval> intervals,
                                         const RateEstimate& rate);

}  // namespace steptune
