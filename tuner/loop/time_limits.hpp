// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Limit of a trial's time.
enum class TimeLimit {
  start,        ///< longest time to the first step
  silence,      ///< longest time to the next step
  measuring,    ///< longest time of measuring, whatever the budget
  budget,       ///< end of the trial's part of a time budget
  job,          ///< end of the trial's time in a job that cannot be ended on request
                ///< (`Outcome::had_enough`)
  slow_in_job,  ///< the job found the trial clearly slower than the best (`Outcome::was_slow`)
};

/// End of a trial's time.
struct TimeOver {
  TimeLimit limit = TimeLimit::measuring;
  double at_s = 0.0;      ///< time on the loop's clock, without pauses (`TrialTime::at`)
  double waited_s = 0.0;  ///< time without a step, for `start` and `silence`
};

/// Time limits of a running trial. Reads no clock.
///
/// All limits but the budget's move with pauses, and do not apply during a pause.
class TimeLimits {
 public:
  explicit TimeLimits(const TrialView& trial);

  /// Returns when the next limit is reached, on the loop's clock; infinite if never.
  [[nodiscard]] double deadline_s() const;
  /// Returns the limit that is reached at `now_s`; nullopt before `deadline_s`.
  [[nodiscard]] std::optional<TimeOver> reached(double now_s) const;

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
