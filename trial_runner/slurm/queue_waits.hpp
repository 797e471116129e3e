// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace steptune::slurm {

/// How long allocations have waited in the queue, by kind (`allocation_kind`). Seconds.
class QueueWaits {
 public:
  void add(const std::string& kind, double wait_s) { waits_s_[kind].push_back(wait_s); }

  /// The median of the kind's, else of all kinds'; `expected_s` before any was seen.
  [[nodiscard]] double usual_s(const std::string& kind, double expected_s) const;
  /// Whether a kind that is not among `kinds` took no longer than `soon_s` when it was last asked
  /// for.
  [[nodiscard]] bool any_other_within(const std::set<std::string>& kinds, double soon_s) const;

 private:
  std::map<std::string, std::vector<double>> waits_s_;
};

}  // namespace steptune::slurm
