// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/units.hpp"

namespace steptune {

/// Returns the cost in US dollars of `seconds` of machines that together cost `usd_per_hour`.
[[nodiscard]] constexpr double usage_usd(double usd_per_hour, double seconds) {
  return usd_per_hour * seconds / k_hour_s;
}

}  // namespace steptune
