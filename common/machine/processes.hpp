// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/machine/system_files.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// A process that cannot be mistaken for a later one that got the same number.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  auto operator<=>(const ProcessId&) const = default;
};

/// What `/proc/PID/stat` tells.
struct ProcessStat {
  ProcessId id;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t resident_bytes = 0;
  double cpu_s = 0.0;      ///< CPU time of it and of the children that it has waited for
  double own_cpu_s = 0.0;  ///< CPU time of its own threads
  [[nodiscard]] bool is_zombie() const { return state == 'Z' || state == 'X'; }
};

/// Nothing when there is no such process.
[[nodiscard]] std::optional<ProcessStat> read_stat(pid_t pid);

/// One thread of a process.
struct ThreadStat {
  pid_t id = 0;
  char state = '?';
  double cpu_s = 0.0;
  std::optional<double> cpu_wait_s;  ///< ready to run, but without a CPU (CONFIG_SCHED_INFO)
  [[nodiscard]] bool is_runnable() const { return state == 'R'; }
};

/// All threads of a process, from /proc/PID/task. Empty when the process is gone.
[[nodiscard]] std::vector<ThreadStat> threads_of(const SystemFiles& files, pid_t pid);

/// Live and zombie children of all threads of a process. Empty when it is gone.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

/// Children whose own parents died, and those that the process's first thread started.
[[nodiscard]] std::vector<pid_t> adopted_children_of_self();

/// A process and all its descendants that can be reached from it, zombies aside.
[[nodiscard]] std::vector<ProcessStat> process_tree(pid_t root);

[[nodiscard]] std::vector<pid_t> all_processes();

/// Whether the environment that a process was started with has all of these `NAME=value` entries.
/// False for processes that may not be looked into.
[[nodiscard]] bool environment_has(pid_t pid, std::span<const std::string> entries);

/// The environment that a process was started with. Empty for processes that may not be looked
/// into.
[[nodiscard]] std::map<std::string, std::string> environment_of(pid_t pid);

/// Paths of the files that a process has mapped into its memory, its shared libraries among them.
/// Empty for processes that may not be looked into. proc(5), /proc/PID/maps.
[[nodiscard]] std::set<std::string> mapped_files(pid_t pid);

/// Signals this very process, never another that got its number since. False when it is gone or may
/// not be signalled.
bool send_signal(const ProcessId& process, int signal);

/// Opens a handle that polls readable once the process has exited. Empty where the kernel has none.
[[nodiscard]] UniqueFd open_pidfd(pid_t pid);

/// Identifies the machine's current boot: process numbers and start times mean nothing beyond it.
[[nodiscard]] std::string boot_id();

}  // namespace steptune
