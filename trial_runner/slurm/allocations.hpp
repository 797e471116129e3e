// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/queue_waits.hpp"
#include "trial_runner/slurm/queue_watch.hpp"
#include "trial_runner/slurm/request_backoff.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"
#include "trial_runner/slurm/unused_times.hpp"
#include "trial_runner/unused_time.hpp"

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
  bool user_started = false;       ///< the trial pays for the nodes
  int failed_launches = 0;
  std::string submission_fault;  ///< error of sbatch; set in the state `doubtful`
  double next_cancel_s = 0.0;  ///< time to call scancel again, after the allocation was given back
  double cancel_gap_s = 0.0;
  std::optional<double> missing_since_s;  ///< when the job was first missing from the queue's list
  bool avoids_nodes = false;  ///< its request excludes lost nodes; Slurm may have no other nodes
  double lease_until_wall_s = 0.0;
};

/// An allocation that was not granted, or that could not be used.
struct AllocationSetback {
  std::string kind;
  Setback setback = Setback::refused;
  std::string why;
  bool avoids_nodes = false;  ///< as in `Allocation`
};

/// The allocations of a study. Finds allocations of earlier tuners, requests new ones, watches all
/// of them with one squeue, keeps them alive and gives them back. Commands run in the background;
/// only `begin` blocks.
class Allocations {
 public:
  /// The arguments outlive the object.
  Allocations(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options);

  /// Finds allocations of a former tuner. Waits for the controller's answer.
  [[nodiscard]] Result<void> begin(const std::string& prefix);
  /// Does all work that is due: requests the queue's list, renews leases. Returns an error if the
  /// controller has not answered for too long, or if leases are about to expire and cannot be
  /// written.
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] double next_due_s() const;

  [[nodiscard]] std::list<Allocation>& all() { return allocations_; }
  [[nodiscard]] const std::list<Allocation>& all() const { return allocations_; }
  [[nodiscard]] bool empty() const { return allocations_.empty(); }
  [[nodiscard]] Allocation* find(const std::string& name);
  /// Returns a free, running allocation that lasts at least `needed_s`.
  [[nodiscard]] Allocation* free_for(const std::string& kind, double needed_s);
  /// Returns the expected wait in the queue: the usual wait of this kind; of other kinds if none of
  /// this kind is known. If an allocation has already waited longer, expects it to wait as long
  /// again as it has.
  [[nodiscard]] double expected_start_s(const std::string& kind) const;
  /// True if the study holds an allocation of a kind outside `kinds`. Also true if the last request
  /// for such a kind was granted within `soon_s`.
  [[nodiscard]] bool has_others(const std::set<std::string>& kinds, double soon_s) const;

  /// Submits a request for nodes other than `avoided` (in sbatch's form; empty: any nodes).
  void submit(const AllocationSpec& requested, const std::string& avoided);
  /// Records the allocation spec of a kind. Needed because allocations of a former tuner show only
  /// their kind.
  void know(const AllocationSpec& requested);
  /// Returns the price of a node-hour; nullopt if the study has no prices. If the kind's spec is
  /// unknown, returns the highest price.
  [[nodiscard]] std::optional<double> usd_per_node_hour(const Allocation& allocation) const;
  void give_back(Allocation& allocation);
  /// Gives back an allocation that cannot be used. `why` and `setback` are returned by
  /// `take_setbacks`.
  void give_back_as(Allocation& allocation, Setback setback, std::string why);
  /// Assigns the allocation to a trial that runs for at most `longest_s`. `set_free` ends the
  /// assignment.
  void set_user(Allocation& allocation, TrialKey key, double longest_s);
  void set_free(Allocation& allocation);
  /// If `paid` is true, the trial pays for the nodes from now on. Otherwise their cost is overhead
  /// of the study.
  void set_paid_by_trial(Allocation& allocation, bool paid);

  /// Returns the job's state from a list requested after `time_s`. nullopt if there is no such list
  /// yet (then requests one soon), or if the job has just gone missing from it. Returns `GONE` if
  /// the controller no longer knows the job.
  [[nodiscard]] std::optional<std::string> state_after(const std::string& name, double time_s);

  /// Returns the setbacks since the last call, in order.
  [[nodiscard]] std::vector<AllocationSetback> take_setbacks() {
    return std::exchange(setbacks_, {});
  }
  /// Returns the kinds for which sbatch has accepted a request since the last call.
  [[nodiscard]] std::vector<std::string> take_accepted() { return std::exchange(accepted_, {}); }
  /// Returns the times since the last call in which nodes were held and no trial paid for them.
  [[nodiscard]] std::vector<UnusedTime> take_unused();

 private:
  void on_submitted(const std::string& name, const CommandResult& result);
  void on_accepted(Allocation& allocation, const std::string& id);
  void cancel(Allocation& allocation);
  QueueInterest on_listed(const std::vector<QueueRow>& rows);
  [[nodiscard]] QueueInterest queue_interest() const;
  void adopt_unknown_jobs(const std::vector<QueueRow>& rows);
  void on_gone(const Allocation& allocation, const std::string& state);
  void look_at_holders();
  /// Returns false if the allocation is gone.
  [[nodiscard]] bool update(Allocation& allocation, const QueueRow* row);
  void on_waiting(Allocation& allocation, const QueueRow& row);
  void on_running(Allocation& allocation, const QueueRow& row);
  [[nodiscard]] Result<void> renew_leases();
  void count_cost();
  /// Counts the cost of an allocation that has started and ended between two lists.
  void count_unseen(Allocation& allocation, const QueueRow& row);
  /// Counts the cost of nodes that were held for `held_s` until `to_wall_s`.
  void add_held(const Allocation& allocation, double to_wall_s, double held_s);

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  std::string prefix_;
  std::list<Allocation> allocations_;
  std::map<std::string, std::string> gone_;      ///< last state by name
  std::map<std::string, AllocationSpec> specs_;  ///< by kind
  std::vector<AllocationSetback> setbacks_;
  std::vector<std::string> accepted_;
  QueueWatch queue_;
  QueueWaits waits_;
  std::int64_t last_number_ = 0;
  double next_holder_look_s_ = 0.0;           ///< next check of the files that placeholders write
  std::optional<double> unwritable_since_s_;  ///< since when leases could not be written
  double next_renewal_s_ = 0.0;
  UnusedTimes unused_;
};

}  // namespace steptune::slurm
