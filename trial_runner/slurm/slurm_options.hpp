// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/document/formula.hpp"
#include "common/document/string_template.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/node_prices.hpp"

namespace steptune::slurm {

/// Shortest and longest time between repeated requests to the controller about one thing, in
/// seconds. The shortest time also lies between two attempts to write a lease, and between two
/// checks of the trials' limits.
inline constexpr double k_least_request_gap_s = 1.0;
inline constexpr double k_longest_request_gap_s = 120.0;
/// Seconds in which the controller settles the state of a job that has just been accepted, is
/// ending, or is cancelled.
inline constexpr double k_settling_s = 10.0;
/// Seconds without a sign of a launch until the list of steps is requested.
inline constexpr double k_launch_patience_s = 5.0;
/// Seconds to start a step, measured on a small cluster.
inline constexpr double k_step_start_s = 0.06;
/// Shortest lease, in seconds. Shared file systems cache attributes for up to a minute, so a
/// placeholder may notice a renewal late.
inline constexpr double k_least_lease_s = 120.0;
/// Bounds of `cpus_per_task` and `gpus_per_node`.
inline constexpr double k_most_cpus = 4096.0;
inline constexpr double k_most_gpus = 64.0;

/// Settings shared by all trials of a study.
struct SlurmOptions {
  int parallel = 1;
  /// Tasks on each node, for trials without a launch. May depend on the configuration if
  /// allocations hold whole nodes.
  document::Formula tasks_per_node = document::Formula::constant(1.0, "1");
  /// CPUs of each task; nullopt: all CPUs that the allocation holds on the node. May depend on the
  /// configuration if allocations hold whole nodes.
  std::optional<document::Formula> cpus_per_task{};
  bool exclusive = true;
  std::string setup{};  ///< shell code that runs before the program
  std::vector<document::StringTemplate> step_options{};
  double default_time_s = 14'400.0;  ///< length of an allocation without the option `time`
  double keep_alive_s = 300.0;       ///< an idle allocation is given back after this time
  double poll_s = 30.0;              ///< longest time between two lists while a job waits
  double queue_wait_s = 86'400.0;    ///< longest wait of an allocation in the queue
  /// Assumed wait in the queue until the runner has measured one.
  double expected_wait_s = 60.0;
  double longest_outage_s = 900.0;
  double launch_limit_s = 300.0;  ///< from srun's start to the start of the last task
  NodePrices usd_per_node_hour{};

  /// Returns the length of a lease, and thus how long nodes are kept if the tuner dies.
  [[nodiscard]] double lease_s() const { return std::max(k_least_lease_s, keep_alive_s); }
};

/// Returns CPUs for each task if all trials request the same number; otherwise nullopt.
[[nodiscard]] std::optional<int> fixed_cpus_per_task(const SlurmOptions& options);
/// Returns the number of tasks on each node that an allocation requests. Returns 1 if trials need
/// different numbers. The allocation then has whole nodes, and each step uses the CPUs that it
/// needs.
[[nodiscard]] int held_tasks_per_node(const SlurmOptions& options);

/// Returns the longest duration of a trial: its launch, its limits, and the time in which Slurm
/// ends it. A trial starts only in an allocation that lasts at least as long.
[[nodiscard]] inline double longest_trial_s(const TrialLimits& limits, double launch_limit_s) {
  return launch_limit_s + limits.wall_s + limits.grace_s + k_forced_end_s;
}
}  // namespace steptune::slurm
