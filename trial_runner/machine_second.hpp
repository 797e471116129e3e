// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/numbers.hpp"

namespace steptune {

/// State of the machine during about one second of a trial. NaN: the runner cannot see this figure.
struct MachineSecond {
  static constexpr double k_unknown = k_nan;

  double from_s = 0.0;  ///< since the trial's start
  double to_s = 0.0;
  /// Shares, in [0, 1], of the time of the trial's CPUs (of all CPUs if the trial is not bound).
  /// `other_load` is the share used by processes outside the trial. `steal` is the share that the
  /// hypervisor gave to other virtual machines.
  double other_load = k_unknown;
  double steal = k_unknown;
  /// Shares of the time, in [0, 1], in which some program of the machine waited for memory, or for
  /// storage (pressure stall information). `quota_wait` is the share of their CPU time for which
  /// threads waited, because the container's CPU quota was used up.
  double memory_pressure = k_unknown;
  double storage_pressure = k_unknown;
  double quota_wait = k_unknown;
  /// Mean clock of the CPUs that were busy for at least half of the second, weighted by their busy
  /// time. Leaves out idle CPUs, because these lower their own clocks.
  double cpu_clock_hz = k_unknown;
  /// Clock of the streaming multiprocessors, mean over the trial's GPUs.
  double gpu_clock_hz = k_unknown;
  /// Share of the time in which a kernel ran, mean over the trial's GPUs.
  double gpu_utilisation = k_unknown;
  double gpu_slowed = k_unknown;  ///< share of samples with clocks lowered by heat or power
};

/// A member of `MachineSecond` and the name under which it is stored and shown.
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

/// Returns the mean of a figure between two times. Weights each second by the part of it that lies
/// between them. NaN if no second in between has the figure.
[[nodiscard]] double mean_between(std::span<const MachineSecond> seconds,
                                  double MachineSecond::*figure, double from_s, double to_s);

/// Clocks of the busy CPUs over a period.
struct CpuClock {
  double mean_hz = 0.0;
  double lowest_hz = 0.0;  ///< in the second with the lowest clock
};
/// Returns the clocks between two times; nullopt if no second in between has a clock.
[[nodiscard]] std::optional<CpuClock> cpu_clock_between(std::span<const MachineSecond> seconds,
                                                        double from_s, double to_s);

/// Merges neighbouring seconds into their means, until at most `most` entries remain. `most` must
/// be at least 1.
[[nodiscard]] std::vector<MachineSecond> thinned(std::span<const MachineSecond> seconds,
                                                 std::size_t most);

/// A machine figure that changed when a trial's steps became longer or shorter.
struct MachineFigureChange {
  std::string_view figure;  ///< a name of `k_machine_figures`
  double before = 0.0;      ///< mean; Hz or a share
  double after = 0.0;
};
/// Returns the seconds that lie wholly between the two times. `seconds` must be in order.
[[nodiscard]] std::span<const MachineSecond> within(std::span<const MachineSecond> seconds,
                                                    double from_s, double to_s);

/// Returns the figure whose change best explains that steps became `ratio` times as long. Returns
/// nullopt if no figure explains at least half of log(ratio). The figure's change must explain at
/// least 2 % longer or shorter steps. There must be at least three seconds before and after it, and
/// the means must differ by at least three standard errors. A clock that falls by a factor is
/// assumed to make steps longer by that factor. A lost share of the time is assumed to make them
/// longer by 1 / (1 - share). Never returns GPU use or slowed GPU clocks, which may be effects of
/// longer steps.
[[nodiscard]] std::optional<MachineFigureChange> explaining_change(
    std::span<const MachineSecond> before, std::span<const MachineSecond> after, double ratio);

}  // namespace steptune
