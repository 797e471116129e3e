// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace steptune {

/// CPU use, threads and waiting of a running program, seen from outside over its last seconds.
///
/// The trainer is the process that trains: the program's first process, or the one below it that
/// shells and wrappers only wait for. Its children are all processes below it, such as data-loader
/// workers.
struct ProcessActivity {
  double span_s = 0.0;  ///< wall time between the first and last look
  int cpus = 1;         ///< CPUs that the program may use
  int processes = 0;    ///< largest number at one look
  int threads = 0;      ///< largest number at one look, over all processes

  /// Threads that ran or waited for a CPU: largest number at one look, and the mean over looks.
  int peak_runnable_threads = 0;
  double mean_runnable_threads = 0.0;

  int trainer_threads = 0;  ///< largest number at one look
  /// Threads of the trainer that share its computing: those with at least a tenth of the CPU time
  /// of its busiest thread. A program that sets 8 OpenMP threads shows 8 on any number of CPUs.
  int computing_threads = 0;
  double trainer_cpu_s = 0.0;  ///< CPU time
  /// Time in which threads of the trainer were ready and waited for a CPU, summed over threads.
  /// Nothing if the kernel does not tell (CONFIG_SCHED_INFO).
  std::optional<double> trainer_cpu_wait_s;

  int child_processes = 0;      ///< largest number at one look
  double children_cpu_s = 0.0;  ///< CPU time of all of them together

  /// Share of the CPU time of `cpus` that nobody used, this program and others.
  std::optional<double> idle_cpu_share;
  /// Time in which some process of the machine waited for storage: pressure stall information, or
  /// the CPUs' iowait where the kernel has none.
  std::optional<double> storage_wait_s;

  [[nodiscard]] double runnable_threads_per_cpu() const { return mean_runnable_threads / cpus; }
  /// CPU time over wall time of one child process: well below 0.5 means that children wait.
  [[nodiscard]] double cpu_share_per_child() const {
    return child_processes > 0 ? children_cpu_s / (span_s * child_processes) : 0.0;
  }
};

}  // namespace steptune
