// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

inline constexpr double k_hour_s = 3600.0;
inline constexpr double k_day_s = 24.0 * k_hour_s;
inline constexpr double k_mib_bytes = 1024.0 * 1024.0;
inline constexpr double k_gib_bytes = 1024.0 * k_mib_bytes;

}  // namespace steptune
