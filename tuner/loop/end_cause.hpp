// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Reason why the loop has asked a trial to end.
enum class EndRequest {
  none,         ///< not asked to end
  measured,     ///< the interval is as narrow as the study asks
  slower,       ///< certainly slower than the best trial
  time_limit,   ///< measured for as long as allowed, whatever the budget
  budget,       ///< measured until the end of its part of a time budget
  job,          ///< its job ended it, because the loop cannot end this kind of job on request
                ///< (`Outcome::had_enough`)
  slow_start,   ///< the first step took longer than a time budget allows for one trial
  silent,       ///< no more steps reported: the program hangs, or its lines are not understood
  scheduler,    ///< the scheduler gave the trial up
  guard,        ///< a guard was violated, and its value cannot change any more
  unlike,       ///< a hook could not apply the configuration to the program
  user,         ///< the user asked to stop
  no_machine,   ///< still waiting for a machine when the tuning time was over
  no_time,      ///< too little measured when the tuning time was over
  interleaved,  ///< the trial cannot run next to another trial, or cannot be paused
};

/// True if the trial's time was over and its measurement so far counts.
[[nodiscard]] constexpr bool is_time_limit(EndRequest request) {
  return request == EndRequest::time_limit || request == EndRequest::budget ||
         request == EndRequest::job;
}

/// True if a trial with this request is launched again when the study continues.
[[nodiscard]] constexpr bool interrupts(EndRequest request) {
  return request == EndRequest::user || request == EndRequest::no_machine ||
         request == EndRequest::no_time || request == EndRequest::interleaved;
}

/// The request that ended a trial, with its circumstances.
struct TrialEndCause {
  EndRequest request = EndRequest::none;
  /// Reason for the end, as text for people. Empty if the request says everything. For time limits,
  /// `settled_cause` adds the text.
  std::string reason{};
  double at_s = 0.0;      ///< for time limits: end of the time on the loop's clock, without pauses
  double waited_s = 0.0;  ///< time without a step, for `slow_start` and `silent`
  /// Measurement when the end was asked for. Reports that follow do not count.
  std::optional<Measurement> measured{};
};

inline constexpr const char* k_slow_in_job =
    "clearly slower than the best in two successive checks, so its job ended it";

/// Returns advice for people about a trial that hung. The advice names the environment variables
/// that the configuration sets and that the baseline does not set to the same value. Empty if there
/// are none.
[[nodiscard]] std::string variables_unlike_baseline(const StudySpec& study,
                                                    const Configuration& configuration);

/// Returns the end of the trial's time, on the clock of its reports. `cause` is a time limit.
[[nodiscard]] double time_end_s(const TrialEndCause& cause, const TrialView& trial);

/// Returns the seconds without a step at the end of the trial's time. Returns 0 if they are at most
/// half of that time, or if a phase was under way. Also returns 0 in a shared program, whose
/// reports use another clock.
[[nodiscard]] double silent_end_s(const TrialEndCause& cause, const TrialView& trial);

/// Returns the final cause, with its reason in words. The outcome may show a cause that the loop
/// could not know. The trial failed while other trials ran, or its job ended it, or its lines were
/// not understood. If an interleaved trial did not start in time, its cause becomes `interleaved`.
[[nodiscard]] TrialEndCause settled_cause(TrialEndCause cause, const Outcome& outcome,
                                          const TrialView& trial);

}  // namespace steptune
