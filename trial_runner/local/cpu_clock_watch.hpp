// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune::local {

/// Where the kernel tells how high the clocks of CPUs are. Which of the places there is, is found
/// out once. In order, the first that knows a clock: `cpuinfo_avg_freq` (a mean over the latest
/// ticks), `scaling_cur_freq` (on x86 that, too), `cpuinfo_cur_freq` of cpufreq, and `cpu MHz` of
/// /proc/cpuinfo. The last only where the CPU counts its cycles (`aperfmperf`): most virtual
/// machines show a constant there.
class CpuClocks {
 public:
  /// As `cpu` has it.
  CpuClocks(SystemFiles files, int cpu);

  [[nodiscard]] bool are_told() const { return source_ != Source::none; }
  /// Of each of `cpus`, in Hz; nothing for one whose clock is not told now.
  [[nodiscard]] std::vector<std::optional<double>> read(std::span<const int> cpus) const;

 private:
  enum class Source { none, cpufreq, cpuinfo };
  SystemFiles files_;
  Source source_ = Source::none;
  const char* file_ = "";  ///< of cpufreq
};

/// Looks at the clocks of a trial's CPUs while it runs.
class CpuClockWatch {
 public:
  /// `cpus`: that the trial is bound to; empty: all.
  explicit CpuClockWatch(std::span<const int> cpus, SystemFiles files = {});

  /// `MachineSecond::cpu_clock_hz` of the time since the look before; nothing at the first look.
  /// `proc_stat`: the text of /proc/stat.
  [[nodiscard]] std::optional<double> look(double now_s, std::string_view proc_stat);

 private:
  std::vector<int> cpus_;
  SystemFiles files_;
  std::optional<CpuClocks> clocks_;  ///< once one of the CPUs was busy
  double looked_s_ = 0.0;
  std::vector<CpuBusyTime> busy_;
};

}  // namespace steptune::local
