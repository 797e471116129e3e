// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace steptune {

/// True if no value of `a` is worse (larger) than that of `b`, and at least one is better.
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b);

/// Returns how many of `others` rank before `point`; values are to be minimised. With one
/// objective, smaller values rank first. With several objectives, points on better non-dominated
/// fronts rank first. On the same front, points in less crowded places rank first. This is the
/// order of NSGA-II (Deb et al. 2002); the scheduler MO-ASHA also uses it (Schmucker et al. 2021).
/// Equal points rank after `point`. All points must have the same number of values, all finite.
[[nodiscard]] std::size_t rank_among(std::span<const double> point,
                                     std::span<const std::vector<double>> others);

}  // namespace steptune
