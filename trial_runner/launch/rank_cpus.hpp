// SPDX-License-Identifier: Apache-2.0
//
// Binds each process of a launch on one machine to its own part of the trial's CPUs. Not needed
// with a launcher that binds processes itself (srun).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// Name of an entry in `TrialStarted::placement`. Its value is the result of `rank_cpus`, if
/// processes are bound.
inline constexpr const char* k_rank_cpus_placement = "rank_cpus";

/// Returns the CPUs of each of `processes`, by local rank: `0-3/4-7`. `cpus` must be in topology
/// order. Empty if there is only one process, or more processes than CPUs.
[[nodiscard]] std::string rank_cpus(const std::vector<int>& cpus, int processes);

/// Returns the CPUs of all processes in a result of `rank_cpus`, ascending.
[[nodiscard]] std::vector<int> cpus_of_ranks(std::string rank_cpus);

/// True if the user already binds the processes to CPUs: by options or variables of the launcher,
/// by variables of OpenMP, or by a program in the command (`numactl`, ...).
[[nodiscard]] bool binds_processes(const Launch& launch, const std::vector<std::string>& launched,
                                   const std::map<std::string, std::string>& environment);

/// Returns `launched` (from `launched_words`) with the installed program `steptune-bind-rank`
/// inserted before the command of each process. That program binds the process to its part of
/// `rank_cpus`. Returns nullopt if the program is missing, if the launcher is srun, or if its
/// options determine how the command is started.
[[nodiscard]] std::optional<std::vector<std::string>> bound_words(const Launch& launch,
                                                                  const LauncherSupport& support,
                                                                  std::vector<std::string> launched,
                                                                  const std::string& rank_cpus);

}  // namespace steptune
