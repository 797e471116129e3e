// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// If more combinations of parameter values than this decide the rented machines, not all are
/// checked.
inline constexpr std::uint64_t k_most_combinations = 512;
/// Most instances in one group.
inline constexpr double k_most_instances = 1000.0;

}  // namespace steptune
