// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace steptune {

/// Largest number of combinations of parameter values that are checked. If more decide the instance
/// types, that is a fault. If more decide types and counts together, only some counts are checked.
inline constexpr std::uint64_t k_most_combinations = 512;
/// Limits of CreateTrainingJob: instances in one group, groups, and bytes of a group's name.
inline constexpr double k_most_instances = 1000.0;
inline constexpr std::size_t k_max_groups = 5;
inline constexpr std::size_t k_max_group_name_bytes = 64;

}  // namespace steptune
