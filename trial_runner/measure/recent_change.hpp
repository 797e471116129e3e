// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// True if the last intervals are slower or faster than the rest by more than chance explains in 19
/// of 20 cases. The difference must also exceed that of equally many intervals in a row anywhere
/// before; otherwise steps are like that (periods, heavy tails). This is too little for a change of
/// level (`find_level_shifts`), but a reason to look again.
///
/// Tests the largest difference over all ends with at least five intervals and at most half of the
/// samples, in standard errors. Source: M. Csorgo and L. Horvath, Limit Theorems in Change-Point
/// Analysis, Wiley 1997, section 1.3 (tail of the largest weighted Brownian bridge). False if the
/// rate's own error is unknown.
[[nodiscard]] bool may_have_just_changed(std::span<const Interval> intervals,
                                         const RateEstimate& rate);

}  // namespace steptune
