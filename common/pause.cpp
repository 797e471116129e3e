// SPDX-License-Identifier: Apache-2.0
#include "common/pause.hpp"

#include <algorithm>
#include <cmath>

#include <poll.h>

#include "common/units.hpp"

namespace steptune {

void pause_thread(double seconds) {
  ::poll(nullptr, 0, static_cast<int>(std::ceil(std::clamp(seconds, 0.0, k_hour_s) * 1e3)));
}

}  // namespace steptune
