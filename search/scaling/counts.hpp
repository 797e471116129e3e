// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Most values of a parameter over which a scaling law is fitted.
inline constexpr std::uint64_t k_most_counts = 4096;
/// Smallest relative error of a measured time; also used if the error is unknown and launches do
/// not differ.
inline constexpr double k_least_time_error = 1e-3;

}  // namespace steptune
