// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace steptune::slurm {

/// Seconds that allocations have waited in the queue, by kind (`allocation_kind`).
class QueueWaits {
 public:
  void add(const std::string& kind, double wait_s) { waits_s_[kind].push_back(wait_s); }

  /// Returns the median wait of this kind. If no wait of this kind is known, returns the median
  /// over all kinds; if no wait is known at all, `expected_s`.
  [[nodiscard]] double usual_s(const std::string& kind, double expected_s) const;
  /// True if, for a kind outside `kinds`, the last wait was at most `soon_s`.
  [[nodiscard]] bool any_other_within(const std::set<std::string>& kinds, double soon_s) const;

 private:
  std::map<std::string, std::vector<double>> waits_s_;
};

}  // namespace steptune::slurm
