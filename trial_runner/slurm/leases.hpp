// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <optional>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/slurm/allocation.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Seconds for which reading or writing a lease may fail, because a shared file system may fail for
/// a moment. After this time, a placeholder ends its job. A lease is renewed after a quarter of its
/// length, so it still lasts for half a minute then.
inline constexpr int k_longest_blind_s = static_cast<int>(k_least_lease_s / 2.0);

/// Leases of allocations. A placeholder ends its job once its lease is over, so nodes are given
/// back even if the tuner dies.
class Leases {
 public:
  /// The arguments outlive the object.
  Leases(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options);

  /// Writes the first lease of an allocation.
  [[nodiscard]] Result<void> begin(Allocation& allocation);
  /// Extends the lease to the latest end of the allocation's trial.
  void extend_for_user(Allocation& allocation);
  /// Lets the lease expire.
  void end(const Allocation& allocation);
  /// Renews all leases at the next call of `renew`.
  void renew_soon() { next_renewal_s_ = 0.0; }
  /// Renews all leases. Returns an error if leases are about to expire and cannot be written.
  [[nodiscard]] Result<void> renew(std::list<Allocation>& allocations);
  [[nodiscard]] double next_renewal_s() const { return next_renewal_s_; }

 private:
  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const double length_s_;
  std::optional<double> unwritable_since_s_;  ///< time of the first failure to write a lease
  double next_renewal_s_ = 0.0;
};

}  // namespace steptune::slurm
