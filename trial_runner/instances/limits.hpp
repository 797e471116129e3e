// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Combinations of values that may decide what a trial rents and are all looked at.
inline constexpr std::uint64_t k_most_combinations = 512;
/// Instances of one group.
inline constexpr double k_most_instances = 1000.0;

}  // namespace steptune
