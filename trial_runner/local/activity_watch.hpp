// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/machine/process_activity.hpp"
#include "common/machine/processes.hpp"
#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"

namespace steptune::local {

/// Samples a program's processes and threads from outside, for its `ProcessActivity`. Keeps only
/// the samples of the last seconds, because a program computes differently while it starts.
class ActivityWatch {
 public:
  /// `main` is the program's first process. `cpus` are the CPUs to which it is bound; empty: all.
  /// `cpu_count` is the number of CPUs that it may use.
  ActivityWatch(pid_t main, std::vector<int> cpus, int cpu_count, SystemFiles files = {})
      : main_(main), cpus_(std::move(cpus)), cpu_count_(cpu_count), files_(std::move(files)) {}

  /// Takes a sample. `processes` are all live processes of the program.
  void sample(double now_s, std::span<const ProcessStat> processes);

  /// Leaves out the samples before `now_s`. Call it when the program begins to train.
  void forget_start(double now_s) { training_start_s_ = now_s; }

  /// Returns nullopt until the samples cover `k_least_span_s`.
  [[nodiscard]] std::optional<ProcessActivity> activity() const;

 private:
  struct Process {
    ProcessStat stat;
    std::string program;  ///< name of its executable; empty: unknown
    std::vector<ThreadStat> threads;
  };
  struct Sample {
    double at_s = 0.0;
    std::vector<Process> processes;
    std::optional<CpuTime> cpu;
    std::optional<double> storage_wait_s;

    [[nodiscard]] const Process* find(pid_t pid) const;
    [[nodiscard]] std::vector<const Process*> children_of(pid_t pid) const;
    [[nodiscard]] int threads() const;
    [[nodiscard]] int runnable_threads() const;
  };

  /// Returns the process that trains (see `ProcessActivity`).
  [[nodiscard]] pid_t trainer() const;
  void add_trainer(ProcessActivity& activity) const;

  pid_t main_;
  std::vector<int> cpus_;
  int cpu_count_;
  SystemFiles files_;
  double training_start_s_ = 0.0;
  std::deque<Sample> samples_;
};

}  // namespace steptune::local
