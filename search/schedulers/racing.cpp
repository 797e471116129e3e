// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "search/schedulers/schedulers.hpp"

namespace steptune {
namespace {

class RacingScheduler final : public Scheduler {
 public:
  StopDecision on_estimate(const TrialEstimate& estimate) override {
    latest_[estimate.trial] = estimate;
    for (const auto& [trial, other] : latest_) {
      if (trial == estimate.trial || !wholly_above(estimate, other)) continue;
      return {true, fmt::format("its 95 % interval is wholly worse than that of trial {}", trial)};
    }
    return {};
  }

  void on_exempt(const TrialEstimate& estimate) override { latest_[estimate.trial] = estimate; }
  void forget(std::int64_t trial) override { latest_.erase(trial); }

 private:
  /// True if every interval of `estimate` is above that of `other`. False if an interval is NaN or
  /// unknown (infinite).
  static bool wholly_above(const TrialEstimate& estimate, const TrialEstimate& other) {
    const std::size_t count = std::min(estimate.values.size(), other.values.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (!(estimate.values[i] - estimate.half_widths[i] >
            other.values[i] + other.half_widths[i])) {
        return false;
      }
    }
    return count > 0;
  }

  std::map<std::int64_t, TrialEstimate> latest_;
};

}  // namespace

std::unique_ptr<Scheduler> make_racing_scheduler() {
  return std::make_unique<RacingScheduler>();
}

}  // namespace steptune
