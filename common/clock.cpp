// SPDX-License-Identifier: Apache-2.0
#include "common/clock.hpp"

#include <ctime>

namespace steptune {
namespace {

double read_clock_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

double SystemClock::now_s() const {
  return read_clock_s(CLOCK_BOOTTIME);
}

double SystemClock::wall_time_s() const {
  return read_clock_s(CLOCK_REALTIME);
}

}  // namespace steptune
