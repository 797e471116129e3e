// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/notices.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

enum class AllocationState {
  submitting,  ///< sbatch is under way
  doubtful,    ///< sbatch has failed, which does not say that there is no job
  pending,     ///< in the queue
  running,     ///< its nodes are there
  ending,      ///< given back; not yet gone
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
  bool former = false;    ///< an earlier tuner has asked for it
  std::string id;         ///< empty until known
  std::string job_state;  ///< as last listed
  std::string reason;
  std::string node_list;
  int nodes = 0;
  int cpus = 0;
  double requested_s = 0.0;
  double submit_wall_s = 0.0;
  std::optional<double> expected_start_wall_s;
  double end_wall_s = 0.0;  ///< known in advance once it runs
  double free_since_s = 0.0;
  double counted_until_s = 0.0;  ///< its cost without a trial
  std::optional<TrialKey> user;
  double user_until_wall_s = 0.0;  ///< that its trial may run at the longest
  bool user_started = false;       ///< it pays
  int failed_launches = 0;
  std::optional<double> missing_since_s;  ///< from the queue's list
  double lease_until_wall_s = 0.0;
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
  /// the folder cannot be written.
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] double next_due_s() const;

  [[nodiscard]] std::list<Allocation>& all() { return allocations_; }
  [[nodiscard]] const std::list<Allocation>& all() const { return allocations_; }
  [[nodiscard]] bool empty() const { return allocations_.empty(); }
  [[nodiscard]] Allocation* find(const std::string& name);
  /// One that runs, is free and lasts for as long.
  [[nodiscard]] Allocation* free_for(const std::string& kind, double needed_s);
  [[nodiscard]] double expected_start_s(const std::string& kind) const;

  void submit(const Need& need);
  void give_back(Allocation& allocation);
  /// A trial uses it for so long at the most, or none does any more.
  void set_user(Allocation& allocation, TrialKey key, double longest_s);
  void set_free(Allocation& allocation);
  /// Whether its cost from now on is its trial's; else it is overhead.
  void set_paid_by_trial(Allocation& allocation, bool paid);

  /// The state as listed by a look that began after `time_s`; nothing if there was none yet. Asks
  /// for one soon. `GONE` of a job that the controller no longer knows.
  [[nodiscard]] std::optional<std::string> state_after(const std::string& name, double time_s);

  /// Kinds that Slurm will not grant as they are, and why, since the last call.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take_refusals() {
    return std::exchange(refusals_, {});
  }
  [[nodiscard]] double take_overhead_usd();
  [[nodiscard]] double node_s_held() const { return node_s_held_; }

 private:
  void on_submitted(const std::string& name, const CommandResult& result);
  void look_soon(double delay_s);
  void look();
  void on_looked(double asked_s, const CommandResult& result);
  void on_listed(const std::string& text);
  /// False: it is gone.
  [[nodiscard]] bool update(Allocation& allocation, const QueueRow* row);
  void on_waiting(Allocation& allocation, const QueueRow& row);
  void on_running(Allocation& allocation, const QueueRow& row);
  void refuse(Allocation& allocation, std::string why);
  [[nodiscard]] bool unsettled() const;
  [[nodiscard]] Result<void> renew_leases();
  void count_cost();

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  std::string prefix_;
  std::list<Allocation> allocations_;
  std::map<std::string, std::string> gone_;                    ///< last state by name
  std::vector<std::pair<std::string, std::string>> refusals_;  ///< kind and reason
  std::vector<double> waits_s_;                                ///< seen in the queue
  std::int64_t last_number_ = 0;
  bool looking_ = false;
  double next_look_s_ = 0.0;
  double gap_s_ = 0.0;
  double looked_s_ = -1.0;  ///< when the last answered look began
  std::optional<double> away_since_s_;
  std::string away_text_;
  double next_renewal_s_ = 0.0;
  double overhead_usd_ = 0.0;
  double node_s_held_ = 0.0;
};

}  // namespace steptune::slurm
