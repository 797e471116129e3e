// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Usual time between two samples of a trial's processes, in seconds. Sampling costs time.
inline constexpr double k_sample_interval_s = 1.0;
/// Shortest time in seconds over which CPU time is compared. The kernel counts it in ticks, usually
/// of 10 ms, which is too coarse for a shorter time.
inline constexpr double k_least_span_s = 0.9 * k_sample_interval_s;

/// CPU seconds since boot, summed over some CPUs.
struct CpuTime {
  double total_s = 0.0;
  double busy_s = 0.0;  ///< neither idle nor stolen
  double steal_s = 0.0;
  std::size_t cpus = 1;
  double iowait_s = 0.0;  ///< idle while a read or write was under way
};

/// Sums the CPU time of `cpus` from the text of /proc/stat. Uses all CPUs if `cpus` is empty or the
/// text lacks one of them (a container may number its CPUs differently). nullopt if the text is not
/// valid.
[[nodiscard]] std::optional<CpuTime> cpu_time_of(std::string_view proc_stat,
                                                 std::span<const int> cpus);
/// Reads the CPU time of `cpus` from /proc/stat; nullopt if that cannot be read.
[[nodiscard]] std::optional<CpuTime> read_cpu_time(std::span<const int> cpus);

/// Time of one CPU.
struct TimeOfCpu {
  int cpu = 0;
  CpuTime time;
};
/// Returns the times of `cpus` (all CPUs if empty) from the text of /proc/stat. Empty if the text
/// lacks one of them.
[[nodiscard]] std::vector<TimeOfCpu> times_of_cpus(std::string_view proc_stat,
                                                   std::span<const int> cpus);

/// Returns the CPU time that processes outside the trial used between two readings. `own_s` is the
/// trial's own CPU time on the same CPUs. nullopt if the span has too few kernel ticks.
[[nodiscard]] std::optional<Disturbance> disturbance_between(const CpuTime& before,
                                                             const CpuTime& after, double own_s);

/// Returns CPU seconds used by a trial. `processes` are its live processes; `reaped_cpu_s` is the
/// time of its orphans that have ended.
[[nodiscard]] double own_cpu_seconds(std::span<const ProcessStat> processes, double reaped_cpu_s);

/// Measures how busy a trial keeps its CPUs.
class CpuUse {
 public:
  /// `own_s` is from `own_cpu_seconds`.
  void sample(double now_s, double own_s);
  /// Returns the busy share of `cpus` CPUs from the first sample to the latest, in [0, 1]. nullopt
  /// if they are less than `k_least_span_s` apart.
  [[nodiscard]] std::optional<double> busy_share(int cpus) const;

 private:
  struct Sample {
    double at_s = 0.0;
    double own_s = 0.0;
  };
  std::optional<Sample> first_;
  Sample latest_;
};

/// Samples the machine while a trial runs, and computes the CPU time that processes outside the
/// trial used.
class DisturbanceWatch {
 public:
  /// Starts the first span at `now_s`. `counters` is the result of `read_cpu_time`; if it is
  /// nullopt, the load of the first span is unknown.
  DisturbanceWatch(double now_s, const std::optional<CpuTime>& counters);

  /// True if the last sample is at least `k_least_span_s` old.
  [[nodiscard]] bool is_due(double now_s) const { return now_s - sampled_s_ >= k_least_span_s; }

  /// The period since the last sample.
  struct Span {
    double from_s = 0.0;
    /// Load of other processes, and steal; nullopt if both are unknown. Time in which the machine
    /// was suspended, or a virtual machine was paused, counts as steal.
    std::optional<Disturbance> disturbance;
  };
  /// Takes a sample. Returns the period since the last sample. `own_s` is the trial's
  /// `own_cpu_seconds`.
  [[nodiscard]] Span sample(double now_s, const std::optional<CpuTime>& counters, double own_s);

 private:
  double sampled_s_;
  std::optional<CpuTime> counters_;
  double own_s_ = 0.0;
};

}  // namespace steptune::local
