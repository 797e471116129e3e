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

/// Returns eight hexadecimal digits that identify a kind of allocation: its spec, and options that
/// decide its size. They are part of the job's name.
[[nodiscard]] std::string allocation_kind(const AllocationSpec& requested,
                                          const SlurmOptions& options);

/// Nodes that a placeholder job holds. The job's name identifies it, because the controller may
/// assign a job id again after a crash. Times are on the runner's clock, except `_wall_`
/// ones.
struct Allocation {
  std::string name;
  std::string kind;  ///< trials of the same kind can use it
  AllocationState state = AllocationState::submitting;
  bool former = false;  ///< requested by an earlier tuner, or by a request that was given up
  bool used = false;    ///< a trial has started in it
  bool given_back = false;
  bool is_up = false;     ///< the placeholder has written that it runs
  std::string id;         ///< empty until known
  std::string job_state;  ///< as last listed
  std::string reason;
  std::string node_list;
  int nodes = 0;
  int cpus = 0;
  double requested_s = 0.0;
  double submit_wall_s = 0.0;
  std::optional<double> expected_start_wall_s;
  double start_wall_s = 0.0;
  double end_wall_s = 0.0;  ///< known in advance once the job runs
  double free_since_s = 0.0;
  double counted_until_s = 0.0;  ///< time up to which unused cost is counted; 0: it holds no nodes
  /// True while Slurm charges for the nodes. False once the job is ending, however long that takes.
  bool is_charged = true;
  std::optional<TrialKey> user;
  double user_until_wall_s = 0.0;  ///< latest end of its trial
  bool user_pays = false;          ///< its trial has started, so it pays for the nodes
  int failed_launches = 0;
  std::string submission_fault;  ///< error of sbatch; set in the state `doubtful`
  double next_cancel_s = 0.0;  ///< time to call scancel again, after the allocation was given back
  double cancel_gap_s = 0.0;
  std::optional<double> missing_since_s;  ///< when the job was first missing from the queue's list
  bool avoids_nodes = false;  ///< its request excludes lost nodes; Slurm may have no other nodes
  double lease_until_wall_s = 0.0;
};

/// Returns the allocation of a listed job that an earlier tuner requested. `prefix` begins the
/// names of the study's jobs.
[[nodiscard]] Allocation former_allocation(const QueueRow& row, const std::string& prefix,
                                           const Clock& clock);

/// Returns a command that cancels by name and id, because Slurm may have reassigned the id after a
/// restart.
[[nodiscard]] std::vector<std::string> cancel_command(const Allocation& allocation);

}  // namespace steptune::slurm
