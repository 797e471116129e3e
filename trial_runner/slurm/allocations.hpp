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
#include "trial_runner/slurm/grants.hpp"
#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/queue_waits.hpp"
#include "trial_runner/slurm/queue_watch.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"
#include "trial_runner/slurm/unused_times.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune::slurm {

enum class AllocationState {
  submitting,  ///< sbatch is under way
  doubtful,    ///< sbatch has failed, which does not say that there is no job
  pending,     ///< in the queue
  running,     ///< its nodes are there
  ending,      ///< given back, or ending by itself; not yet gone
};

/// What is held for a need, in a few letters that are part of an allocation's name.
[[nodiscard]] std::string allocation_kind(const Need& need, const SlurmOptions& options);

/// Nodes that a placeholder job holds. Identity is its name, which no other job gets: an id alone
/// is given anew after a controller's crash. Times are those of the runner's clock, but for
/// `_wall_`.
struct Allocation {
  std::string name;
  std::string kind;  ///< what it holds: trials of the same can use it
  AllocationState state = AllocationState::submitting;
  bool former = false;  ///< an earlier tuner has asked for it, or a request that was given up
  bool used = false;    ///< a trial has started in it
  bool given_back = false;
  bool up_seen = false;   ///< its placeholder has told that it runs
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
  double end_wall_s = 0.0;  ///< known in advance once it runs
  double free_since_s = 0.0;
  double counted_until_s = 0.0;  ///< its cost without a trial; 0: it holds nothing
  /// Slurm counts what its nodes are held for. False once it is ending, however long that takes.
  bool is_charged = true;
  std::optional<TrialKey> user;
  double user_until_wall_s = 0.0;  ///< that its trial may run at the longest
  bool user_started = false;       ///< it pays
  int failed_launches = 0;
  std::string submission_fault;  ///< while it is doubtful
  double next_cancel_s = 0.0;    ///< once it is given back: asked for again then
  double cancel_gap_s = 0.0;
  std::optional<double> missing_since_s;  ///< from the queue's list
  bool avoids_nodes = false;              ///< that were lost a while ago; Slurm may have no others
  double lease_until_wall_s = 0.0;
};

/// An allocation that was not had, or was of no use.
struct AllocationSetback {
  std::string kind;
  Setback setback = Setback::refused;
  std::string why;
  bool avoids_nodes = false;  ///< as Allocation's
};

/// The allocations of a study: found again, asked for, watched through one squeue for all, kept
/// alive and given back. Commands run meanwhile; nothing here blocks but `begin`.
class Allocations {
 public:
  /// All outlive the object.
  Allocations(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options);

  /// Finds those of a former tuner. Waits for the controller's answer.
  [[nodiscard]] Result<void> begin(const std::string& prefix);
  /// Looks where it is due, renews leases. Errors: the controller has been away for too long, or
  /// the folder could not be written for so long that leases are about to run out.
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] double next_due_s() const;

  [[nodiscard]] std::list<Allocation>& all() { return allocations_; }
  [[nodiscard]] const std::list<Allocation>& all() const { return allocations_; }
  [[nodiscard]] bool empty() const { return allocations_.empty(); }
  [[nodiscard]] Allocation* find(const std::string& name);
  /// One that runs, is free and lasts for as long.
  [[nodiscard]] Allocation* free_for(const std::string& kind, double needed_s);
  /// By what the queue has taken for its kind, else for others; what waits for longer already is
  /// expected to wait for as long again.
  [[nodiscard]] double expected_start_s(const std::string& kind) const;
  /// Whether nodes of a kind that is not among `kinds` are held, or were granted within `soon_s`
  /// when they were last asked for.
  [[nodiscard]] bool has_others(const std::set<std::string>& kinds, double soon_s) const;

  /// On other nodes than `avoided`, in sbatch's form; empty: on any.
  void submit(const Need& need, const std::string& avoided);
  /// What allocations of its kind hold, those of a former tuner included.
  void know(const Need& need);
  /// Nothing without prices; the highest where it is not known what the allocation holds.
  [[nodiscard]] std::optional<double> usd_per_node_hour(const Allocation& allocation) const;
  void give_back(Allocation& allocation);
  /// The same for one that is of no use: `why`, and whether another would be.
  void give_back_as(Allocation& allocation, Setback setback, std::string why);
  /// A trial uses it for so long at the most, or none does any more.
  void set_user(Allocation& allocation, TrialKey key, double longest_s);
  void set_free(Allocation& allocation);
  /// Whether its cost from now on is its trial's; else it is overhead.
  void set_paid_by_trial(Allocation& allocation, bool paid);

  /// The state as listed by a look that began after `time_s`; nothing if there was none yet, or the
  /// job is missing from the list for the first seconds. Asks for one soon. `GONE` of a job that
  /// the controller no longer knows.
  [[nodiscard]] std::optional<std::string> state_after(const std::string& name, double time_s);

  /// Since the last call, in order.
  [[nodiscard]] std::vector<AllocationSetback> take_setbacks() {
    return std::exchange(setbacks_, {});
  }
  /// Kinds that sbatch has accepted a request for since the last call.
  [[nodiscard]] std::vector<std::string> take_accepted() { return std::exchange(accepted_, {}); }
  /// Held and not paid for by a trial, since the last call.
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
  /// False: it is gone.
  [[nodiscard]] bool update(Allocation& allocation, const QueueRow* row);
  void on_waiting(Allocation& allocation, const QueueRow& row);
  void on_running(Allocation& allocation, const QueueRow& row);
  [[nodiscard]] Result<void> renew_leases();
  void count_cost();
  /// Of one that has started and ended between two looks.
  void count_unseen(Allocation& allocation, const QueueRow& row);
  /// It was held so long, until `to_wall_s`.
  void add_held(const Allocation& allocation, double to_wall_s, double held_s);

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  std::string prefix_;
  std::list<Allocation> allocations_;
  std::map<std::string, std::string> gone_;  ///< last state by name
  std::map<std::string, Need> needs_;        ///< by kind
  std::vector<AllocationSetback> setbacks_;
  std::vector<std::string> accepted_;
  QueueWatch queue_;
  QueueWaits waits_;
  std::int64_t last_number_ = 0;
  double next_holder_look_s_ = 0.0;           ///< at the files that tell that a placeholder runs
  std::optional<double> unwritable_since_s_;  ///< the folder with the leases
  double next_renewal_s_ = 0.0;
  UnusedTimes unused_;
};

}  // namespace steptune::slurm
