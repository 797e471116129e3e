// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {

enum class AllocationState {
  submitting,  ///< sbatch is running
  doubtful,    ///< sbatch has failed, but it may have submitted the job
  pending,     ///< the job waits in the queue
  running,     ///< the job has its nodes
  ending,      ///< the job was cancelled or ends by itself, but still exists
};

/// Returns the kind of an allocation: eight hexadecimal digits that identify its spec and the
/// options that decide its size. The job's name contains them.
[[nodiscard]] std::string allocation_kind(const AllocationSpec& requested,
                                          const SlurmOptions& options);

/// Nodes that a placeholder job holds. The job's name identifies it, because the controller may
/// assign a job id again after a crash. Times are on the runner's clock; names with `_wall_` mean
/// seconds since 1970.
struct Allocation {
  std::string name;
  std::string kind;  ///< trials of the same kind can use it
  AllocationState state = AllocationState::submitting;
  /// Found in the queue: an earlier tuner requested it, or this tuner gave up the request.
  bool former = false;
  bool used = false;  ///< a trial has started in it
  bool given_back = false;
  bool is_up = false;     ///< the placeholder has written that it runs
  std::string id;         ///< empty until sbatch or the queue names it
  std::string job_state;  ///< state in the latest list of the queue
  std::string reason;
  std::string node_list;
  int nodes = 0;
  int cpus = 0;
  double requested_s = 0.0;
  double submit_wall_s = 0.0;
  std::optional<double> expected_start_wall_s;
  double start_wall_s = 0.0;
  double end_wall_s = 0.0;  ///< scheduled end, known once the job runs
  double free_since_s = 0.0;
  /// End of the time whose cost is counted; 0: the job holds no nodes.
  double counted_until_s = 0.0;
  /// True while Slurm charges for the nodes. False once the job is ending, even if that takes long.
  bool is_charged = true;
  std::optional<TrialKey> user;
  double user_until_wall_s = 0.0;  ///< latest possible end of its trial
  bool user_pays = false;          ///< its trial has started, so it pays for the nodes
  int failed_launches = 0;
  std::string submission_fault;  ///< error of sbatch; set in the state `doubtful`
  double next_cancel_s = 0.0;  ///< time to call scancel again, after the allocation was given back
  double cancel_gap_s = 0.0;
  std::optional<double> missing_since_s;  ///< when the job was first missing from the queue's list
  /// The request excluded lost nodes, so Slurm may have too few nodes for it.
  bool avoids_nodes = false;
  double lease_until_wall_s = 0.0;
};

/// Returns the allocation of a listed job that an earlier tuner requested. `prefix` is the prefix
/// of the names of the study's jobs.
[[nodiscard]] Allocation former_allocation(const QueueRow& row, const std::string& prefix,
                                           const Clock& clock);

/// Returns a command that cancels by name and id, because Slurm may have reassigned the id after a
/// restart.
[[nodiscard]] std::vector<std::string> cancel_command(const Allocation& allocation);

}  // namespace steptune::slurm
