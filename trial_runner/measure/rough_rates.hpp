// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Smallest relative half-width of a rate without a steady state.
inline constexpr double k_unsteady_half_width = 0.1;
/// Relative half-width of a rate of which only a bound is known, because it includes a start-up of
/// unknown length.
inline constexpr double k_bound_half_width = 0.5;

}  // namespace steptune
