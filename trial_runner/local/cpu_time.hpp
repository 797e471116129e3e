// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Shorter spans are left to the next look: ticks of 10 ms are too coarse for them.
inline constexpr double k_least_span_s = 0.9;

/// CPU seconds of some CPUs together since boot.
struct CpuTime {
  double total_s = 0.0;
  double busy_s = 0.0;  ///< neither idle nor stolen
  double steal_s = 0.0;
  std::size_t cpus = 1;
  double iowait_s = 0.0;  ///< idle while a read or write was under way
};

/// Of these CPUs, from the text of /proc/stat; of all that the machine has where none are given or
/// the text does not know each (a container may number its CPUs by itself). Nothing where it is no
/// such text.
[[nodiscard]] std::optional<CpuTime> cpu_time_of(std::string_view proc_stat,
                                                 std::span<const int> cpus);
/// The same from /proc/stat itself; nothing where it cannot be read.
[[nodiscard]] std::optional<CpuTime> read_cpu_time(std::span<const int> cpus);

/// CPU seconds since boot in which one CPU was neither idle nor stolen.
struct CpuBusyTime {
  int cpu = 0;
  double busy_s = 0.0;
};
/// Of these CPUs, of all where none are given, as the text of /proc/stat has them; none where it
/// does not know each.
[[nodiscard]] std::vector<CpuBusyTime> cpu_busy_times_of(std::string_view proc_stat,
                                                         std::span<const int> cpus);

/// What others used between two readings, given what the trial used itself of the same CPUs.
/// Nothing where the span is too short for the kernel's ticks to say anything.
[[nodiscard]] std::optional<Disturbance> disturbance_between(const CpuTime& before,
                                                             const CpuTime& after, double own_s);

/// What the processes of a trial have used: `processes` are all that live, `reaped_cpu_s` what
/// orphans used that are gone.
[[nodiscard]] double own_cpu_seconds(std::span<const ProcessStat> processes, double reaped_cpu_s);

/// How busy a trial keeps its CPUs, by looks at its processes.
class CpuUse {
 public:
  /// `own_s`: `own_cpu_seconds`.
  void look(double now_s, double own_s);
  /// From the first look to the latest; nothing where they are too close for the kernel's ticks.
  [[nodiscard]] std::optional<double> busy_share(int cpus) const;

 private:
  struct Look {
    double at_s = 0.0;
    double own_s = 0.0;
  };
  std::optional<Look> first_;
  Look latest_;
};

/// Looks at the machine while a trial runs and tells what others took of it.
class DisturbanceWatch {
 public:
  /// From here on; without counters (`read_cpu_time`) it sees nothing.
  DisturbanceWatch(double now_s, const std::optional<CpuTime>& counters);

  /// Whether the last look was about a second ago: after less there is little to see.
  [[nodiscard]] bool is_due(double now_s) const { return now_s - looked_s_ >= k_least_span_s; }

  /// A stretch of time that ends now.
  struct Span {
    double from_s = 0.0;
    std::optional<Disturbance> taken;  ///< load and steal; nothing where they are not known
  };
  /// What others took since the last look. `own_s`: `own_cpu_seconds` of the trial.
  [[nodiscard]] Span look(double now_s, const std::optional<CpuTime>& counters, double own_s);

 private:
  double looked_s_;
  std::optional<CpuTime> counters_;
  double own_s_ = 0.0;
};

}  // namespace steptune::local
