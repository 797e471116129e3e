// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace steptune {

/// CPU use, threads and waiting times of a running program over its last seconds, as seen from
/// outside.
///
/// The trainer is the process that trains: the program's first process, or the process below it if
/// the first is a shell or wrapper that only waits. Its children are all processes below it, such
/// as data-loader workers.
struct ProcessActivity {
  double span_s = 0.0;  ///< wall time between the first and last sample
  int cpus = 1;         ///< CPUs that the program may use
  int processes = 0;    ///< largest number in one sample
  int threads = 0;      ///< largest number in one sample, over all processes

  /// Threads that run or wait for a CPU: largest number in one sample, and the mean over samples.
  int peak_runnable_threads = 0;
  double mean_runnable_threads = 0.0;

  int trainer_threads = 0;  ///< largest number in one sample
  /// Threads of the trainer that share its computing: threads with at least a tenth of the busiest
  /// thread's CPU time. A program that sets 8 OpenMP threads shows 8 on any number of CPUs.
  int computing_threads = 0;
  double trainer_cpu_s = 0.0;  ///< CPU time
  /// Time during which the trainer's threads were ready but waited for a CPU, summed over threads.
  /// nullopt if the kernel does not report it (CONFIG_SCHED_INFO).
  std::optional<double> trainer_cpu_wait_s;

  int child_processes = 0;      ///< largest number in one sample
  double children_cpu_s = 0.0;  ///< CPU time of all children together

  /// Share of the CPU time of `cpus` that no program used.
  std::optional<double> idle_cpu_share;
  /// Time during which some process of the machine waited for storage. Source: pressure stall
  /// information; the CPUs' iowait if the kernel has none.
  std::optional<double> storage_wait_s;

  [[nodiscard]] double runnable_threads_per_cpu() const { return mean_runnable_threads / cpus; }
  /// Mean CPU time of a child process, divided by wall time. Well below 0.5, children mostly wait.
  [[nodiscard]] double cpu_share_per_child() const {
    return child_processes > 0 ? children_cpu_s / (span_s * child_processes) : 0.0;
  }
};

}  // namespace steptune
