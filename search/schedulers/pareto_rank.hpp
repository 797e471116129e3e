// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace steptune {

/// True if `a` is nowhere worse than `b` and somewhere better (smaller).
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b);

/// How many of `others` rank before `point`, all to be minimised. One objective: those that are
/// smaller. Several: those on better non-dominated fronts, and those on the same front in less
/// crowded places (NSGA-II, Deb et al. 2002; for schedulers MO-ASHA, Schmucker et al. 2021). Ties
/// count for the point. All have the same number of finite values.
[[nodiscard]] std::size_t rank_among(std::span<const double> point,
                                     std::span<const std::vector<double>> others);

}  // namespace steptune
