// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune::local {

/// Kernel counters since boot; the quota's counts since its control group was created. nullopt: the
/// kernel, virtual machine or container has no such counter.
struct PressureCounters {
  /// Time in which some program waited for memory (pressure stall information, `some`).
  std::optional<double> memory_wait_s;
  /// Time in which some program waited for storage (pressure stall information, `some`).
  std::optional<double> storage_wait_s;
  /// Time in which this control group had used up its CPU quota. The kernel adds up the times of
  /// all CPUs on which the group had to wait.
  std::optional<double> quota_wait_s;
  /// Sum of counters of lowered CPU clocks (thermal_throttle). One event may count several times,
  /// so only growth has a meaning.
  std::optional<double> throttles;
};

/// Reads pressure stall information (Documentation/accounting/psi.rst), `cpu.stat` of the control
/// group (Documentation/admin-guide/cgroup-v2.rst) and the thermal counters of the first 16 CPUs:
/// their cores' and their packages'. Misses packages that have none of these CPUs.
[[nodiscard]] PressureCounters read_pressure(const SystemFiles& files);

/// Returns the seconds since boot in which some process waited for storage. nullopt if the kernel
/// has no pressure stall information.
[[nodiscard]] std::optional<double> storage_stall_s(const SystemFiles& files);

/// Shares of a period in which programs waited, from 0 to 1.
struct PressureShares {
  std::optional<double> memory;
  std::optional<double> storage;
  std::optional<double> quota;
  bool clocks_throttled = false;  ///< a thermal counter grew during the period
};

/// Compares the counters with the last sample's.
class PressureWatch {
 public:
  PressureWatch(double now_s, const PressureCounters& counters)
      : sampled_s_(now_s), counters_(counters) {}

  [[nodiscard]] PressureShares sample(double now_s, const PressureCounters& counters);

 private:
  double sampled_s_;
  PressureCounters counters_;
};

}  // namespace steptune::local
