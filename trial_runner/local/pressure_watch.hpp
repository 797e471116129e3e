// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/machine/system_files.hpp"

namespace steptune::local {

/// What the kernel has counted, since boot, of things that keep programs waiting or slow CPUs down.
/// Each is nothing where the kernel, a virtual machine or a container does not tell it.
struct PressureCounters {
  std::optional<double> memory_wait_s;   ///< some program waited for memory (PSI, `some`)
  std::optional<double> storage_wait_s;  ///< likewise for storage
  std::optional<double> quota_wait_s;    ///< this control group had used up its CPU quota
  std::optional<double> throttles;       ///< times that CPU clocks were held down for heat or power
};

/// Pressure stall information (Documentation/accounting/psi.rst), `cpu.stat` of the control group
/// (Documentation/admin-guide/cgroup-v2.rst) and the thermal counters of the first 16 CPUs: those
/// of a package count for all of it.
[[nodiscard]] PressureCounters read_pressure(const SystemFiles& files);

/// Seconds since boot in which some process waited for storage (PSI); nothing without PSI.
[[nodiscard]] std::optional<double> storage_stall_s(const SystemFiles& files);

/// What they grew by in some time, as shares of it.
struct PressureShares {
  std::optional<double> memory;
  std::optional<double> storage;
  std::optional<double> quota;
  bool clocks_throttled = false;
};

/// Compares the counters with those of the look before.
class PressureWatch {
 public:
  PressureWatch(double now_s, const PressureCounters& counters)
      : looked_s_(now_s), counters_(counters) {}

  [[nodiscard]] PressureShares look(double now_s, const PressureCounters& counters);

 private:
  double looked_s_;
  PressureCounters counters_;
};

}  // namespace steptune::local
