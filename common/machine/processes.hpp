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

/// A process, identified so that a later process with the same number is not mistaken for it.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  auto operator<=>(const ProcessId&) const = default;
};

/// Fields of `/proc/PID/stat`.
struct ProcessStat {
  ProcessId id;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t resident_bytes = 0;
  double cpu_s = 0.0;         ///< CPU time of the process and of children that it has waited for
  double own_cpu_s = 0.0;     ///< CPU time of the process's own threads
  double own_kernel_s = 0.0;  ///< part of `own_cpu_s` that the kernel spent for them
  [[nodiscard]] bool is_zombie() const { return state == 'Z' || state == 'X'; }
};

/// Returns nullopt if there is no such process.
[[nodiscard]] std::optional<ProcessStat> read_stat(pid_t pid);

/// One thread of a process.
struct ThreadStat {
  pid_t id = 0;
  char state = '?';
  double cpu_s = 0.0;
  std::optional<double> cpu_wait_s;  ///< time ready to run but without a CPU (CONFIG_SCHED_INFO)
  [[nodiscard]] bool is_runnable() const { return state == 'R'; }
};

/// Returns the live threads of a process, from /proc/PID/task. Empty if the process is gone.
[[nodiscard]] std::vector<ThreadStat> threads_of(const SystemFiles& files, pid_t pid);

/// Returns the live and zombie children of all threads of a process. Empty if the process is gone.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

/// Returns children that this process adopted because their parents died, and children started by
/// its first thread. If the kernel does not list children (CONFIG_PROC_CHILDREN), returns all.
[[nodiscard]] std::vector<pid_t> adopted_children_of_self();

/// Returns a process and its descendants, without zombies. Misses a descendant whose parent died,
/// because the kernel has given it another parent.
[[nodiscard]] std::vector<ProcessStat> process_tree(pid_t root);

[[nodiscard]] std::vector<pid_t> all_processes();

/// True if the environment with which a process was started has all of these `NAME=value` entries.
/// False if the process may not be inspected.
[[nodiscard]] bool environment_has(pid_t pid, std::span<const std::string> entries);

/// Returns the environment with which a process was started. Empty if the process may not be
/// inspected.
[[nodiscard]] std::map<std::string, std::string> environment_of(pid_t pid);

/// Returns the paths of files that a process has mapped into memory, such as its shared libraries.
/// Empty if the process may not be inspected. proc(5), /proc/PID/maps.
[[nodiscard]] std::set<std::string> mapped_files(pid_t pid);

/// Signals this process, not a later one with the same number. Returns false if the process is gone
/// or may not be signalled. If the kernel has no pidfds, another process may get the number between
/// the check and the signal.
bool send_signal(const ProcessId& process, int signal);

/// Opens a handle that becomes readable for poll once the process has exited. Empty if the process
/// is gone or the kernel has no pidfds.
[[nodiscard]] UniqueFd open_pidfd(pid_t pid);

/// Returns an identifier of the machine's current boot. Process numbers and start times are valid
/// only within one boot.
[[nodiscard]] std::string boot_id();

}  // namespace steptune
