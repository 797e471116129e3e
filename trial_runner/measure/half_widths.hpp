// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Half-widths of 95 % intervals of a rate, and differences of rates, relative to the rate.
namespace steptune {

/// Half-width at which a trial ends unless its study says otherwise (`measure.target_half_width`).
/// Smaller differences do not matter: launches of one configuration differ by about as much.
inline constexpr double k_usual_half_width = 0.02;
/// Smallest half-width of a rate without a steady state.
inline constexpr double k_unsteady_half_width = 0.1;
/// Half-width of a rate of which only a bound is known, because it includes a start-up of unknown
/// length.
inline constexpr double k_bound_half_width = 0.5;
/// Difference of rates that is reported: a drift within a window, a rank slower than other ranks.
/// Smaller differences may be noise if no interval is known. Also the least share of CPU time that
/// counts if a hypervisor takes it or the kernel uses it.
inline constexpr double k_noticeable_difference = 0.05;

}  // namespace steptune
