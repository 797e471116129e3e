// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trial_runner/unused_time.hpp"

namespace steptune::slurm {

/// Adds up, for each allocation, the time in which it was held and no trial paid for it.
class UnusedTimes {
 public:
  /// The allocation was held for `held_s` until `to_wall_s`, unused, which cost `usd`.
  void add(const std::string& allocation, double to_wall_s, double held_s, double usd);
  /// A trial pays for it, or it is gone: what is unused later is another time.
  void end(const std::string& allocation) { since_wall_s_.erase(allocation); }
  /// What has been added since the last call; a time that goes on is told again with its beginning.
  [[nodiscard]] std::vector<UnusedTime> take();

 private:
  std::map<std::string, double> since_wall_s_;  ///< of those that are unused, by allocation
  std::vector<UnusedTime> times_;
};

}  // namespace steptune::slurm
