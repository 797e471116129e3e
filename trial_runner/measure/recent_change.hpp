// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trial_runner/measure/batch_means.hpp"
#include "trial_runner/measure/progress_series.hpp"

namespace steptune {

/// True if the last intervals differ from the rest by more than chance explains in 19 of 20 cases.
/// The difference must also exceed that of all earlier sequences of as many intervals. Otherwise
/// such differences are usual (periods, heavy tails). The evidence is too weak for a change of
/// level (`find_level_shifts`), but a reason to wait for the next evaluation.
///
/// Considers the last 5, 6, 7, ... intervals, up to half of the samples. Tests the largest
/// difference in standard errors. Source: M. Csorgo and L. Horvath, Limit Theorems in Change-Point
/// Analysis, Wiley 1997, section 1.3 (tail of the largest weighted Brownian bridge). False if the
/// rate's own error is unknown.
[[nodiscard]] bool may_have_just_changed(std::span<const Interval> intervals,
                                         const RateEstimate& rate);

}  // namespace steptune
