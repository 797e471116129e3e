// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Largest number of combinations of parameter values that are checked. If more decide the instance
/// types, that is a fault. If more decide types and counts together, only some counts are checked.
inline constexpr std::uint64_t k_most_combinations = 512;
/// Most instances in one group.
inline constexpr double k_most_instances = 1000.0;

}  // namespace steptune
