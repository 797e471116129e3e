// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace steptune {

inline constexpr double k_infinity = std::numeric_limits<double>::infinity();
inline constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace steptune
