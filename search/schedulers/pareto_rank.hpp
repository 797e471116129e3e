// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace steptune {

/// True if `a` is nowhere worse than `b` and better (smaller) somewhere.
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b);

/// Returns how many of `others` rank before `point`; values are to be minimised. With one
/// objective: the smaller ones. With several: those on better non-dominated fronts, and those in
/// less crowded places of the same front (NSGA-II, Deb et al. 2002; for schedulers MO-ASHA,
/// Schmucker et al. 2021). Ties rank after `point`. All have the same number of finite values.
[[nodiscard]] std::size_t rank_among(std::span<const double> point,
                                     std::span<const std::vector<double>> others);

}  // namespace steptune
