// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/leases.hpp"

#include <algorithm>

namespace steptune::slurm {

Leases::Leases(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options)
    : clock_(clock), host_(host), notices_(notices), length_s_(options.lease_s()) {}

Result<void> Leases::begin(Allocation& allocation) {
  allocation.lease_until_wall_s = allocation.submit_wall_s + length_s_;
  return host_.set_lease(allocation.name, allocation.lease_until_wall_s);
}

void Leases::extend_for_user(Allocation& allocation) {
  renew_soon();
  // Write the lease now, so that the trial survives if the tuner dies. Failures are retried later.
  if (host_.set_lease(allocation.name, allocation.user_until_wall_s)) {
    allocation.lease_until_wall_s =
        std::max(allocation.lease_until_wall_s, allocation.user_until_wall_s);
  }
}

void Leases::end(const Allocation& allocation) {
  static_cast<void>(host_.set_lease(allocation.name, 0.0));
}

Result<void> Leases::renew(std::list<Allocation>& allocations) {
  const double wall_s = clock_.wall_time_s();
  for (Allocation& allocation : allocations) {
    if (allocation.state == AllocationState::ending) continue;
    // A trial continues without a tuner, so the lease lasts to the trial's latest end. When a step
    // has ended, its supervisor shortens the lease. The supervisor of an earlier step may do so
    // late, so write each lease again even if it should still last.
    const double until_wall_s = std::max(wall_s + length_s_, allocation.user_until_wall_s);
    if (auto set = host_.set_lease(allocation.name, until_wall_s); !set) {
      if (until_wall_s <= allocation.lease_until_wall_s) continue;
      const double now_s = clock_.now_s();
      if (!unwritable_since_s_) unwritable_since_s_ = now_s;
      if (now_s - *unwritable_since_s_ > k_longest_blind_s) return set;
      notices_.add_once("unwritable", set.error().text() + "; it is tried again");
      next_renewal_s_ = now_s + k_least_request_gap_s;
      return {};
    }
    allocation.lease_until_wall_s = until_wall_s;
  }
  if (unwritable_since_s_) notices_.end_topic("unwritable");
  unwritable_since_s_.reset();
  next_renewal_s_ = clock_.now_s() + length_s_ / 4.0;
  return {};
}

}  // namespace steptune::slurm
