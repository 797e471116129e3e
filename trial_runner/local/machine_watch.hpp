// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_clock_watch.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/gpu_watch.hpp"
#include "trial_runner/local/pressure_watch.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Looks at the machine about once a second while a trial runs: what others take of its CPUs, what
/// is waited for, and how high clocks are.
class MachineWatch {
 public:
  /// `cpus`: that the trial is bound to; empty: all. `cpu`: their time at the trial's start.
  MachineWatch(double started_s, const std::optional<CpuTime>& cpu, std::vector<int> cpus,
               SystemFiles files = {});

  /// Whether the last look was about a second ago: after less there is little to see.
  [[nodiscard]] bool is_due(double now_s) const { return cpu_.is_due(now_s); }

  /// What was seen since the look before, and what of it disturbed the trial, if that was enough
  /// (`is_disturbing`).
  struct Look {
    MachineSecond second;
    std::optional<Disturbance> disturbance;
  };
  /// Nothing where none is due. `own_s`: `own_cpu_seconds` of the trial; `gpus`: looked at by then.
  [[nodiscard]] std::optional<Look> look(double now_s, double own_s, GpuWatch& gpus);

 private:
  double started_s_;
  std::vector<int> cpus_;
  SystemFiles files_;
  DisturbanceWatch cpu_;
  PressureWatch pressure_;
  CpuClockWatch clocks_;
};

}  // namespace steptune::local
