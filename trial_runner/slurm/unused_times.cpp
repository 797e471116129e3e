// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/unused_times.hpp"

#include <algorithm>
#include <utility>

namespace steptune::slurm {

void UnusedTimes::add(const std::string& allocation, double to_wall_s, double held_s, double usd) {
  const double from_wall_s =
      since_wall_s_.try_emplace(allocation, to_wall_s - held_s).first->second;
  const auto same_allocation = std::ranges::find_if(times_, [&](const UnusedTime& time) {
    return time.machine == allocation && time.from_wall_s == from_wall_s;
  });
  if (same_allocation == times_.end()) {
    times_.push_back({allocation, from_wall_s, to_wall_s, usd});
  } else {
    same_allocation->to_wall_s = to_wall_s;
    same_allocation->usd += usd;
  }
}

std::vector<UnusedTime> UnusedTimes::take() {
  return std::exchange(times_, {});
}

}  // namespace steptune::slurm
