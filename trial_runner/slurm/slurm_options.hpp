// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptune::slurm {

/// What all trials of a study share.
struct SlurmOptions {
  int parallel = 1;
  int tasks_per_node = 1;
  std::optional<int> cpus_per_task;  ///< nothing: all of the nodes' that are held
  bool exclusive = true;
  std::string memory =
      "all";  ///< of a node: `all`, `site` (nothing is asked for), or sbatch's form
  std::string setup;
  std::vector<std::string> step_options;
  double default_time_s = 14'400.0;  ///< of an allocation whose need states none
  double keep_alive_s = 300.0;       ///< an allocation that nobody uses is given back after this
  double poll_s = 30.0;              ///< between looks at the queue while something waits
  double queue_wait_s = 86'400.0;    ///< the longest that an allocation may wait in the queue
  double expected_wait_s = 60.0;     ///< in the queue, until one has been seen
  double longest_outage_s = 900.0;
  double launch_limit_s = 60.0;  ///< from srun's start to the last task's
  std::optional<double> usd_per_node_hour;
};

}  // namespace steptune::slurm
