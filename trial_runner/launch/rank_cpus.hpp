// SPDX-License-Identifier: Apache-2.0
//
// Processes of a launch on one machine, each bound to its own part of the trial's CPUs. A launcher
// that does so itself (srun) has no need of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/launch/launch.hpp"

namespace steptune {

/// In `TrialStarted::placement` of a trial whose processes are bound: what `rank_cpus` gave.
inline constexpr const char* k_rank_cpus_placement = "rank_cpus";

/// The CPUs of each of `processes`, by local rank: `0-3/4-7`. `cpus` are in the order in which
/// neighbours share most. Empty where there is nothing to divide: one process, or more processes
/// than CPUs.
[[nodiscard]] std::string rank_cpus(const std::vector<int>& cpus, int processes);

/// The CPUs of all processes in such a text, ascending.
[[nodiscard]] std::vector<int> cpus_of_ranks(std::string rank_cpus);

/// Whether the user binds the processes: by options of the launcher, by variables of it or of
/// OpenMP, or by a program of the command (`numactl`, ...).
[[nodiscard]] bool binds_processes(const Launch& launch, const std::vector<std::string>& launched,
                                   const std::map<std::string, std::string>& environment);

/// `launched` words (`launched_words`) with the shipped program `steptune-bind-rank` in front of
/// what each process runs, which binds it to its part of `rank_cpus`. Nothing where that program is
/// missing, or options of the launcher say how it is to start the command.
[[nodiscard]] std::optional<std::vector<std::string>> bound_words(const Launch& launch,
                                                                  const LauncherSupport& support,
                                                                  std::vector<std::string> launched,
                                                                  const std::string& rank_cpus);

}  // namespace steptune
