// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Returns the number of further pairs after which the pairs' verdict would be known if their mean
/// and their scatter stayed the same. Then the interval excludes 1, or a gain of `search.worth`; if
/// each configuration is confirmed (`MeasureSpec::confirm_all`), it excludes 1 or lies within that
/// margin. There are also enough pairs for a claim (`least_for_claim`). Returns NaN without an
/// interval, or if more than 100 pairs would be needed: the mean is then so near to a limit that
/// the number would say little.
[[nodiscard]] double further_pairs(const StudySpec& study, const std::vector<RunPair>& pairs,
                                   const BothErrors& errors,
                                   const std::optional<KnownLaunches>& known);

}  // namespace steptune
