// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/queue_waits.hpp"

#include <algorithm>
#include <utility>

#include "common/median.hpp"

namespace steptune::slurm {

double QueueWaits::usual_s(const std::string& kind, double expected_s) const {
  std::vector<double> seen;
  const auto own = waits_s_.find(kind);
  for (const auto& [each, waits_s] : waits_s_) {
    if (own == waits_s_.end() || each == kind)
      seen.insert(seen.end(), waits_s.begin(), waits_s.end());
  }
  return median(std::move(seen)).value_or(expected_s);
}

bool QueueWaits::any_other_within(const std::set<std::string>& kinds, double soon_s) const {
  return std::ranges::any_of(waits_s_, [&](const auto& seen) {
    return !kinds.contains(seen.first) && seen.second.back() <= soon_s;
  });
}

}  // namespace steptune::slurm
