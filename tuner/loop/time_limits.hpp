// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Time limits of a running trial. Reads no clock.
///
/// All limits but the budget's move with pauses, and do not apply during a pause.
class TimeLimits {
 public:
  explicit TimeLimits(const TrialView& trial);

  /// Returns when the next limit is reached, on the loop's clock; infinite if never.
  [[nodiscard]] double deadline_s() const;
  /// Returns the limit that is reached at `now_s`: `slow_start`, `silent`, `time_limit` or
  /// `budget`. Returns nullopt before `deadline_s`.
  [[nodiscard]] std::optional<TrialEndCause> reached(double now_s) const;

 private:
  TrialTime time_;
  double progressed_s_;
  double budget_end_s_;  ///< loop's clock
  // Without pauses; infinite if there is no such limit.
  double start_s_;
  double silence_s_;
  double measuring_s_;
};

/// Returns the time at which a trial with reports is ended, before the runner's wall limit makes it
/// a failure. Infinite before any report. Without pauses.
[[nodiscard]] double before_wall_s(const TrialView& trial);

}  // namespace steptune
