// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace steptune {

/// Returns the indices of points at distinct times, given the times of all points. Several points
/// may have about the same time, for example if a log is read occasionally or a clock counts whole
/// seconds. Such a group is represented by its last point, which is the progress at that time. If
/// many points came in groups, leaves out the last group, because more of its points may follow.
///
/// Points have about the same time if each follows the one before within 2 % of the mean distance
/// of points. The last one must also follow the first within 20 %. Beside a long pause all steps
/// are short; the second limit then keeps them apart.
[[nodiscard]] std::vector<std::size_t> distinct_points(std::span<const double> times_s);

}  // namespace steptune
