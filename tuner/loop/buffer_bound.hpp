// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// True if a buffer that was filled before the window may explain more than a third of a run's gain
/// over the baseline (`Measurement::slowest_seconds_per_sample`). Gains below `precision`, a share
/// of the speed, are not worth a longer run and count as bounded.
[[nodiscard]] bool may_hide_gain(const Measurement& run, double baseline_seconds_per_sample,
                                 double precision);

}  // namespace steptune
