// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace steptune {

/// What a runner saw of the machine for about a second of a trial. NaN where it is not told.
struct MachineSecond {
  static constexpr double k_not_told = std::numeric_limits<double>::quiet_NaN();

  double from_s = 0.0;  ///< since the trial's start
  double to_s = 0.0;
  /// Shares in [0, 1] of the CPU time of what the trial is bound to, or of the machine where it is
  /// not: used by processes that are not the trial's, and taken by the hypervisor.
  double other_load = k_not_told;
  double steal = k_not_told;
  /// Shares of the time in which some program of the machine waited for memory and for storage
  /// (pressure stall information), and the trial for the next period of its container's CPU quota.
  double memory_pressure = k_not_told;
  double storage_pressure = k_not_told;
  double quota_wait = k_not_told;
  /// Mean of the CPUs that computed for half of the second or more, weighted by how long. CPUs that
  /// wait lower their clocks by themselves.
  double cpu_clock_hz = k_not_told;
  double gpu_clock_hz = k_not_told;     ///< of the streaming multiprocessors, mean of its GPUs
  double gpu_utilisation = k_not_told;  ///< share of the time in which a kernel ran, likewise
  double gpu_slowed = k_not_told;  ///< share of looks that found clocks held down by heat or power
};

/// A figure of `MachineSecond` by the name under which it is stored and shown.
struct MachineFigure {
  std::string_view name;
  double MachineSecond::*value = nullptr;
};
inline constexpr std::array k_machine_figures{
    MachineFigure{"other_load", &MachineSecond::other_load},
    MachineFigure{"steal", &MachineSecond::steal},
    MachineFigure{"memory_pressure", &MachineSecond::memory_pressure},
    MachineFigure{"storage_pressure", &MachineSecond::storage_pressure},
    MachineFigure{"quota_wait", &MachineSecond::quota_wait},
    MachineFigure{"cpu_clock_hz", &MachineSecond::cpu_clock_hz},
    MachineFigure{"gpu_clock_hz", &MachineSecond::gpu_clock_hz},
    MachineFigure{"gpu_utilisation", &MachineSecond::gpu_utilisation},
    MachineFigure{"gpu_slowed", &MachineSecond::gpu_slowed},
};

/// Mean of a figure over the seconds that lie between the two times, at least in part, each by how
/// much of it does; NaN where none of them tells it.
[[nodiscard]] double mean_between(std::span<const MachineSecond> seconds,
                                  double MachineSecond::*figure, double from_s, double to_s);

/// How high clocks were over a time.
struct CpuClock {
  double mean_hz = 0.0;
  double lowest_hz = 0.0;  ///< of a second
};
/// Likewise; nothing where no clock is told.
[[nodiscard]] std::optional<CpuClock> cpu_clock_between(std::span<const MachineSecond> seconds,
                                                        double from_s, double to_s);

/// Neighbours made one, of their means, where there are more than `most` (at least 1).
[[nodiscard]] std::vector<MachineSecond> thinned(std::span<const MachineSecond> seconds,
                                                 std::size_t most);

/// What the machine did at the time when a trial's steps became longer or shorter.
struct MachineFigureChange {
  std::string_view figure;  ///< a name of `k_machine_figures`
  double before = 0.0;      ///< mean; Hz or a share
  double after = 0.0;
};
/// Those that lie wholly between the two times. `seconds`: in order.
[[nodiscard]] std::span<const MachineSecond> within(std::span<const MachineSecond> seconds,
                                                    double from_s, double to_s);

/// The figure that changed most from the seconds `before` to those `after`, of those whose change
/// may explain half or more of steps that became `ratio` times as long (on a logarithmic scale) and
/// is none of chance: three seconds or more on both sides, and means that are three standard errors
/// apart. A clock that falls makes steps as much longer; of a share of the time that is lost they
/// become longer by 1 / (1 - share) at most.
[[nodiscard]] std::optional<MachineFigureChange> explaining_change(
    std::span<const MachineSecond> before, std::span<const MachineSecond> after, double ratio);

}  // namespace steptune
