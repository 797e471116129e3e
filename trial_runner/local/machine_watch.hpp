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

/// Samples the machine about once a second while a trial runs: CPU time of processes outside the
/// trial, pressure stall information, and CPU clocks. Adds the GPU readings of a `GpuWatch`.
class MachineWatch {
 public:
  /// `cpus` are the CPUs to which the trial is bound; empty: all. `cpu` is their CPU time at the
  /// trial's start.
  MachineWatch(double started_s, const std::optional<CpuTime>& cpu, std::vector<int> cpus,
               SystemFiles files = {});

  /// True if the last sample is at least about a second old.
  [[nodiscard]] bool is_due(double now_s) const { return cpu_.is_due(now_s); }

  /// State of the machine since the last sample, and the disturbance of the trial if it was large
  /// enough (`is_disturbing`).
  struct Sample {
    MachineSecond second;
    std::optional<Disturbance> disturbance;
  };
  /// Takes a sample; nullopt if none is due. `own_s` is the trial's `own_cpu_seconds`. Call
  /// `gpus.sample` first.
  [[nodiscard]] std::optional<Sample> sample(double now_s, double own_s, GpuWatch& gpus);

 private:
  double started_s_;
  std::vector<int> cpus_;
  SystemFiles files_;
  DisturbanceWatch cpu_;
  PressureWatch pressure_;
  CpuClockWatch clocks_;
};

}  // namespace steptune::local
