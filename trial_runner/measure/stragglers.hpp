// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "trial_runner/measure/measurement.hpp"

namespace steptune {

/// Returns the rank that sets the pace of the whole trial. That is the lowest rank, unless another
/// rank is slower and its confidence interval lies wholly above the lowest rank's. `ranks` is
/// not empty.
[[nodiscard]] int slowest_rank(const std::map<int, const Measurement*>& ranks);

/// Returns a text for people about ranks that delay the training. Names the slowest rank if it is
/// slower than the lowest rank, as when processes do not wait for each other. Also names a rank
/// whose time for the part `data` exceeds the other ranks' median by at least 5 % of a step. Does
/// not compare other parts, because fast ranks may wait for slow ones in them. Empty if no such
/// rank is known.
[[nodiscard]] std::string stragglers(const std::map<int, const Measurement*>& ranks);

}  // namespace steptune
