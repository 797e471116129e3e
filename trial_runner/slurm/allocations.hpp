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
#include "trial_runner/slurm/allocation.hpp"
#include "trial_runner/slurm/allocation_costs.hpp"
#include "trial_runner/slurm/leases.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/queue_waits.hpp"
#include "trial_runner/slurm/queue_watch.hpp"
#include "trial_runner/slurm/request_backoff.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune::slurm {

/// An allocation that was not granted, or that could not be used.
struct AllocationSetback {
  std::string kind;
  Setback setback = Setback::refused;
  std::string why;
  bool avoids_nodes = false;  ///< as in `Allocation`
};

/// The allocations of a study. Finds allocations of earlier tuners, requests new ones, watches all
/// of them with one squeue, renews their leases and gives them back. Commands run in the
/// background; only `begin` blocks.
class Allocations {
 public:
  /// The arguments outlive the object.
  Allocations(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options);

  /// Finds allocations of an earlier tuner. Waits for the controller's answer.
  [[nodiscard]] Result<void> begin(const std::string& prefix);
  /// Requests the list of the queue and renews leases, if they are due. Returns an error if the
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
  /// Returns the expected seconds until a trial could start in an allocation of this kind. If an
  /// allocation is free, a step starts at once. Otherwise Slurm's estimate for a pending allocation
  /// counts. Without an estimate, the usual wait (`QueueWaits`) counts, or the time already waited
  /// if it is longer.
  [[nodiscard]] double expected_start_s(const std::string& kind) const;
  /// True if the study holds a running allocation of a kind outside `kinds`. Also true if the last
  /// request for such a kind was granted within `soon_s`.
  [[nodiscard]] bool has_others(const std::set<std::string>& kinds, double soon_s) const;

  /// Submits a request for nodes other than `avoided` (in sbatch's form; empty: any nodes).
  void submit(const AllocationSpec& requested, const std::string& avoided);
  /// Calls the function of the same name in `AllocationCosts`.
  void know(const AllocationSpec& requested) { costs_.know(requested); }
  [[nodiscard]] std::optional<double> usd_per_node_hour(const Allocation& allocation) const {
    return costs_.usd_per_node_hour(allocation);
  }
  void give_back(Allocation& allocation);
  /// Gives back an allocation that cannot be used. `take_setbacks` then returns `setback` and
  /// `why`.
  void give_back_as(Allocation& allocation, Setback setback, std::string why);
  /// Assigns the allocation to a trial that runs for at most `longest_s`. `set_free` ends the
  /// assignment.
  void set_user(Allocation& allocation, TrialKey key, double longest_s);
  /// The allocation's trial pays for the nodes from its start at `from_s` until its end. The rest
  /// of their cost is overhead of the study.
  void set_paid_by_trial(Allocation& allocation, double from_s);
  /// Ends the assignment to a trial. `ended_s` is the end of a trial that paid; nullopt: now.
  void set_free(Allocation& allocation, std::optional<double> ended_s = std::nullopt);

  /// Returns the job's state from a list requested after `time_s`. nullopt if there is no such list
  /// yet (then requests one soon), or if the job is newly missing from it. Returns `GONE` if the
  /// controller no longer knows the job.
  [[nodiscard]] std::optional<std::string> state_after(const std::string& name, double time_s);

  /// Returns the setbacks since the last call, in order.
  [[nodiscard]] std::vector<AllocationSetback> take_setbacks() {
    return std::exchange(setbacks_, {});
  }
  /// Returns the kinds for which sbatch has accepted a request since the last call.
  [[nodiscard]] std::vector<std::string> take_accepted() { return std::exchange(accepted_, {}); }
  /// Returns the periods since the last call in which nodes were held and no trial paid for them.
  [[nodiscard]] std::vector<UnusedTime> take_unused() {
    costs_.count(allocations_);
    return costs_.take();
  }

 private:
  void on_submitted(const std::string& name, const CommandResult& result);
  void on_accepted(Allocation& allocation, const std::string& id);
  void cancel(Allocation& allocation);
  QueueInterest on_listed(const std::vector<QueueRow>& rows);
  [[nodiscard]] QueueInterest queue_interest() const;
  void adopt_unknown_jobs(const std::vector<QueueRow>& rows);
  void on_gone(const Allocation& allocation, const std::string& state);
  void poll_holders();
  /// Returns false if the allocation is gone.
  [[nodiscard]] bool update(Allocation& allocation, const QueueRow* row);
  void on_waiting(Allocation& allocation, const QueueRow& row);
  void on_running(Allocation& allocation, const QueueRow& row);

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  std::string prefix_;
  std::list<Allocation> allocations_;
  std::map<std::string, std::string> gone_;  ///< last state of each job that is gone, by name
  std::vector<AllocationSetback> setbacks_;
  std::vector<std::string> accepted_;
  Leases leases_;
  AllocationCosts costs_;
  QueueWatch queue_;
  QueueWaits waits_;
  std::int64_t last_number_ = 0;
  double next_holder_poll_s_ = 0.0;  ///< next check of the files that placeholders write
};

}  // namespace steptune::slurm
