// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/machine/system_files.hpp"
#include "trial_runner/runner.hpp"

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

/// Looks at the machine while a trial runs and tells the seconds in which clocks were held down.
/// Waiting for memory, storage and the quota is told beside that: it may be the trial's own doing,
/// which the long run will have as well, and does not make a second doubtful. How high clocks are
/// is not judged, as CPUs that wait lower them by themselves.
class PressureWatch {
 public:
  PressureWatch(double now_s, const PressureCounters& counters)
      : looked_s_(now_s), counters_(counters) {}

  struct Span {
    double from_s = 0.0;  ///< it ends now
    Disturbance disturbance;
  };
  /// Whether it is time to read the counters again: a look before sees nothing.
  [[nodiscard]] bool is_due(double now_s) const;
  [[nodiscard]] std::optional<Span> look(double now_s, const PressureCounters& counters);

 private:
  double looked_s_;
  PressureCounters counters_;
};

}  // namespace steptune::local
