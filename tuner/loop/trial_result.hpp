// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Reason why the loop has asked a trial to end.
enum class EndRequest {
  none,         ///< not asked to end
  measured,     ///< the interval is as tight as asked for
  slower,       ///< certainly slower than the best trial
  time_limit,   ///< measured for as long as allowed, whatever the budget
  budget,       ///< measured until the end of its part of a time budget
  job,          ///< its time in a job that cannot be ended on request was over
                ///< (`Outcome::had_enough`)
  slow_in_job,  ///< its job found it clearly slower than the best (`Outcome::was_slow`)
  slow_start,   ///< the first step took longer than a time budget allows for one trial
  silent,       ///< no more steps reported: the program hangs, or its lines are not understood
  scheduler,    ///< the scheduler gave the trial up
  guard,        ///< a guard was violated, and its value cannot change any more
  unlike,       ///< a hook could not apply the configuration to the program
  user,         ///< the user asked to stop
  no_machine,   ///< still waiting for a machine when the time was over
  no_time,      ///< too little measured when the tuning time was over
  interleaved,  ///< the trial cannot run next to another trial, or cannot be stopped
};

/// Everything that decides the result of a trial.
struct TrialEnding {
  OutcomeKind outcome = OutcomeKind::completed;
  std::string detail;  ///< details about the end, from the runner
  EndRequest request = EndRequest::none;
  std::string request_reason;          ///< the scheduler's reason, or why the trial's time was over
  std::optional<std::string> missing;  ///< why there are no objective values; unset if there are
  std::optional<std::string> violated;  ///< the guard that is violated
  std::optional<std::string> slow;      ///< why too little was measured in its time
  /// Settings that a hook could not apply: another configuration was measured.
  std::optional<std::string> not_applied{};
  /// Why a hook ended the program: the configuration does not suit the program.
  std::optional<std::string> given_up{};
};

/// True if the trial's time was over and its measurement so far counts.
[[nodiscard]] constexpr bool is_time_limit(EndRequest request) {
  return request == EndRequest::time_limit || request == EndRequest::budget ||
         request == EndRequest::job || request == EndRequest::slow_in_job;
}

/// True if a trial with this request is launched again when the study continues.
[[nodiscard]] constexpr bool interrupts(EndRequest request) {
  return request == EndRequest::user || request == EndRequest::no_machine ||
         request == EndRequest::no_time || request == EndRequest::interleaved;
}

/// Result of a trial that has ended.
struct TrialResult {
  TrialStatus status = TrialStatus::failed;
  std::string failure;  ///< empty for `completed`
};

/// Decides the result from outcome, request and values:
/// - A trial that failed or did not start next to another trial, or could not be stopped for it,
///   runs again by itself.
/// - A trial that ran out of memory or could not be started gets that result, whatever the loop had
///   asked.
/// - If the user stops, a trial is interrupted, unless it was already asked to end. It is also not
///   interrupted if it had ended by itself with exit status 0. The same rule applies if the time to
///   wait for machines, or the tuning time, is over.
/// - A trial that the loop asked to end is judged by its measurement. Its reaction to the signal
///   (exit status 1, killed, 0) does not matter.
/// - A trial that ended by itself with another exit status than 0 has failed, however well it was
///   measured. The program would fail in a long run, too. If a hook ended the program because the
///   configuration does not suit the program, the trial is infeasible.
/// - A trial whose configuration had no effect is infeasible, however well it was measured.
/// - A trial that was ended because it reported no more steps has failed, whatever it reported
///   before.
/// - A trial without values has failed. If the trial was so slow that only a bound of its speed is
///   known, its status is `stopped_early`.
/// - `lost` and `stopped` without a request are interruptions: the trial may be launched again.
[[nodiscard]] TrialResult trial_result(const TrialEnding& ending);

}  // namespace steptune
