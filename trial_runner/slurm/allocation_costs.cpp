// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocation_costs.hpp"

#include <algorithm>

#include "trial_runner/cost/usage_cost.hpp"

namespace steptune::slurm {

void AllocationCosts::know(const AllocationSpec& requested) {
  specs_.try_emplace(allocation_kind(requested, options_), requested);
}

std::optional<double> AllocationCosts::usd_per_node_hour(const Allocation& allocation) const {
  const NodePrices& prices = options_.usd_per_node_hour;
  if (!prices.are_given()) return std::nullopt;
  const auto requested = specs_.find(allocation.kind);
  return requested == specs_.end() ? prices.highest() : prices.of(requested->second);
}

void AllocationCosts::count_unseen(Allocation& allocation, const QueueRow& row) {
  if (allocation.counted_until_s > 0.0 || allocation.former || !row.start_wall_s) return;
  const double wall_s = clock_.wall_time_s();
  const double end_wall_s = std::min(row.end_wall_s.value_or(wall_s), wall_s);
  add_held(allocation, end_wall_s, std::max(0.0, end_wall_s - *row.start_wall_s));
  allocation.counted_until_s = clock_.now_s();
}

void AllocationCosts::add_held(const Allocation& allocation, double to_wall_s, double held_s) {
  const double usd =
      usage_usd(usd_per_node_hour(allocation).value_or(0.0), allocation.nodes * held_s);
  const double from_wall_s =
      since_wall_s_.try_emplace(allocation.name, to_wall_s - held_s).first->second;
  const auto same_period = std::ranges::find_if(times_, [&](const UnusedTime& time) {
    return time.machine == allocation.name && time.from_wall_s == from_wall_s;
  });
  if (same_period == times_.end()) {
    times_.push_back({allocation.name, from_wall_s, to_wall_s, usd});
  } else {
    same_period->to_wall_s = to_wall_s;
    same_period->usd += usd;
  }
}

void AllocationCosts::count(std::list<Allocation>& allocations) {
  for (Allocation& allocation : allocations) {
    if (!allocation.user) count(allocation, clock_.now_s());
  }
}

void AllocationCosts::count(Allocation& allocation, double until_s) {
  const bool held =
      allocation.counted_until_s > 0.0 && allocation.is_charged &&
      (allocation.state == AllocationState::running || allocation.state == AllocationState::ending);
  if (!held || allocation.user_pays || until_s <= allocation.counted_until_s) return;
  add_held(allocation, clock_.wall_time_s() - (clock_.now_s() - until_s),
           until_s - allocation.counted_until_s);
  allocation.counted_until_s = until_s;
}

}  // namespace steptune::slurm
