// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trial_runner/unused_time.hpp"

namespace steptune::slurm {

/// Sums, for each allocation, the time in which it was held and no trial paid for it.
class UnusedTimes {
 public:
  /// Adds `held_s` of unused time until `to_wall_s`, which cost `usd`.
  void add(const std::string& allocation, double to_wall_s, double held_s, double usd);
  /// Ends the current unused period, because a trial pays or the allocation is gone.
  void end(const std::string& allocation) { since_wall_s_.erase(allocation); }
  /// Returns the periods to which time was added since the last call. A period that continues is
  /// returned again later, with the same beginning.
  [[nodiscard]] std::vector<UnusedTime> take();

 private:
  /// Start of the current unused period, by allocation.
  std::map<std::string, double> since_wall_s_;
  std::vector<UnusedTime> times_;
};

}  // namespace steptune::slurm
