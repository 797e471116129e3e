// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Half-width of a 95 % interval in standard errors of a normal estimate.
inline constexpr double k_z_95 = 1.959963984540054;

}  // namespace steptune
