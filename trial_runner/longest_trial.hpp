// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/units.hpp"

namespace steptune {

/// Longest time of a trial that a study may allow: `limits.wall`. The other limits of a trial are
/// at most as long.
inline constexpr double k_longest_trial_s = 30.0 * k_day_s;

}  // namespace steptune
