// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// True if a data buffer may explain more than a third of a run's gain over the baseline. A buffer
/// that was full when the window began hides a slow loader for a while.
/// `Measurement::slowest_seconds_per_sample` bounds this effect. False for relative gains up to
/// `precision`, which are not worth a longer run.
[[nodiscard]] bool may_hide_gain(const Measurement& run, double baseline_seconds_per_sample,
                                 double precision);

}  // namespace steptune
