// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Returns the number of further pairs after which the verdict would be known if the pairs' mean
/// and scatter stayed the same. The verdict is known if the interval excludes 1, or excludes a gain
/// of `search.worth`. If each configuration is confirmed (`MeasureSpec::confirm_all`), the interval
/// must exclude 1 or lie within `search.worth` of 1. There must also be enough pairs for a claim
/// (`least_for_claim`). Returns NaN without an interval, or if more than 100 pairs would be needed.
/// The mean is then so near to a limit that the number would say little.
[[nodiscard]] double further_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                                   const BothErrors& errors,
                                   const std::optional<KnownLaunches>& known);

}  // namespace steptune
