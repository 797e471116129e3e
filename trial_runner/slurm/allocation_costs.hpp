// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/slurm/allocation.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/unused_time.hpp"

namespace steptune::slurm {

/// Counts the time in which allocations hold nodes without a trial that pays, and the cost of that
/// time.
class AllocationCosts {
 public:
  /// The arguments outlive the object.
  AllocationCosts(const Clock& clock, const SlurmOptions& options)
      : clock_(clock), options_(options) {}

  /// Records the allocation spec of a kind. Needed because an earlier tuner's allocations show only
  /// their kind.
  void know(const AllocationSpec& requested);
  /// Returns the price of a node-hour; nullopt if the study has no prices. If the kind's spec is
  /// unknown, returns the highest price.
  [[nodiscard]] std::optional<double> usd_per_node_hour(const Allocation& allocation) const;

  /// Counts the cost up to now. Skips allocations that have a trial. Such a trial pays from its
  /// start, which may not be known yet.
  void count(std::list<Allocation>& allocations);
  /// Counts the cost of an allocation up to `until_s` (runner's clock), unless its trial pays.
  void count(Allocation& allocation, double until_s);
  /// Counts the cost of an allocation that has started and ended between two lists of the queue.
  void count_unseen(Allocation& allocation, const QueueRow& row);
  /// Ends the current unused period of an allocation, because a trial pays or it is gone.
  void end(const std::string& name) { since_wall_s_.erase(name); }
  /// Returns the unused periods that began or grew since the last call. If a period grows further,
  /// a later call returns it again with the same beginning.
  [[nodiscard]] std::vector<UnusedTime> take() { return std::exchange(times_, {}); }

 private:
  /// Counts the cost of nodes that were held for `held_s` until `to_wall_s`.
  void add_held(const Allocation& allocation, double to_wall_s, double held_s);

  const Clock& clock_;
  const SlurmOptions& options_;
  std::map<std::string, AllocationSpec> specs_;  ///< by kind
  std::map<std::string, double> since_wall_s_;   ///< start of the current unused period, by name
  std::vector<UnusedTime> times_;
};

}  // namespace steptune::slurm
