// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune::local {

/// Reads the clock frequencies of CPUs. The constructor chooses the first of these sources that has
/// a value:
///
/// - The cpufreq files `cpuinfo_avg_freq` (mean over the last ticks), `scaling_cur_freq` (on x86
///   also a mean) and `cpuinfo_cur_freq`.
/// - `cpu MHz` in /proc/cpuinfo, if the CPU counts its cycles (`aperfmperf`). Without that, most
///   virtual machines show a constant.
class CpuClocks {
 public:
  /// Chooses the source that has a value for `cpu`.
  CpuClocks(SystemFiles files, int cpu);

  [[nodiscard]] bool are_known() const { return source_ != Source::none; }
  /// Returns the clock of each of `cpus` in Hz; nullopt for a CPU without a value now.
  [[nodiscard]] std::vector<std::optional<double>> read(std::span<const int> cpus) const;

 private:
  enum class Source { none, cpufreq, cpuinfo };
  SystemFiles files_;
  Source source_ = Source::none;
  const char* file_ = "";  ///< name of the cpufreq file
};

/// Samples the clocks of a trial's CPUs while it runs.
class CpuClockWatch {
 public:
  /// `cpus` are the CPUs to which the trial is bound; empty: all.
  explicit CpuClockWatch(std::span<const int> cpus, SystemFiles files = {});

  /// Returns `MachineSecond::cpu_clock_hz` since the last sample. Returns nullopt at the first
  /// sample, if no CPU was busy for half of the time, or if no clock is known. `proc_stat` is the
  /// text of /proc/stat.
  [[nodiscard]] std::optional<double> sample(double now_s, std::string_view proc_stat);

 private:
  std::vector<int> cpus_;
  SystemFiles files_;
  std::optional<CpuClocks> clocks_;  ///< nullopt until one of the CPUs has been busy
  double sampled_s_ = 0.0;
  std::vector<TimeOfCpu> times_;
};

}  // namespace steptune::local
