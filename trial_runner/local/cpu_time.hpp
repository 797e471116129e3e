// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/runner.hpp"

namespace steptune::local {

/// CPU seconds of all the machine's CPUs together since boot.
struct CpuTime {
  double total_s = 0.0;
  double busy_s = 0.0;  ///< neither idle nor stolen
  double steal_s = 0.0;
};

/// From /proc/stat; nothing where it cannot be read.
[[nodiscard]] std::optional<CpuTime> read_cpu_time();

/// What others used between two readings, given what the trial used itself. Nothing where the span
/// is too short for the kernel's ticks to say anything.
[[nodiscard]] std::optional<Disturbance> disturbance_between(const CpuTime& before,
                                                             const CpuTime& after, double own_s);

}  // namespace steptune::local
