// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Doubles hold every whole number up to here.
inline constexpr double k_max_whole = 0x1p53;

}  // namespace steptune
