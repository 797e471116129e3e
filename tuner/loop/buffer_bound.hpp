// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// True if a buffer may explain more than a third of a run's gain over the baseline. Such a buffer
/// was filled before the window. `Measurement::slowest_seconds_per_sample` bounds this effect.
/// Returns false for relative gains up to `precision`, which are not worth a longer run.
[[nodiscard]] bool may_hide_gain(const Measurement& run, double baseline_seconds_per_sample,
                                 double precision);

}  // namespace steptune
