// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/document/formula.hpp"
#include "common/document/string_template.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/node_prices.hpp"

namespace steptune::slurm {

/// The most tasks that a node may have.
inline constexpr double k_most_tasks_per_node = 1024.0;

/// What all trials of a study share.
struct SlurmOptions {
  int parallel = 1;
  /// Of trials without a launch. May vary where whole nodes are held.
  document::Formula tasks_per_node = document::Formula::constant(1.0, "1");
  /// Nothing: all of the nodes' that are held. May vary where whole nodes are held.
  std::optional<document::Formula> cpus_per_task;
  bool exclusive = true;
  std::string setup;
  std::vector<document::StringTemplate> step_options;
  double default_time_s = 14'400.0;  ///< of an allocation whose need states none
  double keep_alive_s = 300.0;       ///< an allocation that nobody uses is given back after this
  double poll_s = 30.0;              ///< between looks at the queue while something waits
  double queue_wait_s = 86'400.0;    ///< the longest that an allocation may wait in the queue
  double expected_wait_s = 60.0;     ///< in the queue, until one has been seen
  double longest_outage_s = 900.0;
  double launch_limit_s = 300.0;  ///< from srun's start to the last task's
  NodePrices usd_per_node_hour;
};

/// Processors for each task, where all trials ask for the same.
[[nodiscard]] std::optional<int> fixed_cpus_per_task(const SlurmOptions& options);
/// Tasks that an allocation is asked to have room for on each node: 1 where trials differ, whose
/// steps take of its whole nodes what they need.
[[nodiscard]] int held_tasks_per_node(const SlurmOptions& options);

/// How long a trial may take at the longest: its launch, its limits, and Slurm's ending of it. No
/// trial starts in an allocation that ends sooner.
[[nodiscard]] inline double longest_trial_s(const TrialLimits& limits, double launch_limit_s) {
  constexpr double k_ending_s = 30.0;
  return launch_limit_s + limits.wall_s + limits.grace_s + k_ending_s;
}
/// The least that an allocation must last for: its start is seen at a look at the queue only.
[[nodiscard]] inline double least_allocation_s(const TrialLimits& limits, double launch_limit_s,
                                               double poll_s) {
  return longest_trial_s(limits, launch_limit_s) + poll_s;
}

}  // namespace steptune::slurm
