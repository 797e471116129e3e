// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Why the loop has asked a trial to end.
enum class EndRequest {
  none,         ///< it has not
  measured,     ///< the interval is as tight as asked for
  time_limit,   ///< measured as long as is allowed
  slow_start,   ///< its first step took longer than a budget of time lets one trial take
  silent,       ///< it told no steps any more: it hangs, or its lines are not understood
  scheduler,    ///< the scheduler gave it up
  guard,        ///< a guard was violated for good
  unlike,       ///< a hook could not put the configuration into the program
  user,         ///< the user wants to stop
  no_machine,   ///< it still waited for one when time was over
  no_time,      ///< too little of it was seen when the tuning time was over
  interleaved,  ///< it does not run next to another trial, or cannot be stopped
};

/// All that decides what became of a trial.
struct TrialEnding {
  OutcomeKind outcome = OutcomeKind::completed;
  std::string detail;  ///< the runner's
  EndRequest request = EndRequest::none;
  std::string request_reason;           ///< the scheduler's, or why its time was over
  std::optional<std::string> missing;   ///< why there are no objective values; nothing: there are
  std::optional<std::string> violated;  ///< the guard that is violated
  std::optional<std::string> slow;      ///< why too little was seen of it in the time it had
  /// What of the configuration a hook could not put into the program: what was measured is another.
  std::optional<std::string> not_in_force{};
  /// Why a hook has ended the program: the configuration is nothing for it.
  std::optional<std::string> given_up{};
};

/// Whether a trial that was asked to end so is to be launched again if the study goes on.
[[nodiscard]] constexpr bool interrupts(EndRequest request) {
  return request == EndRequest::user || request == EndRequest::no_machine ||
         request == EndRequest::no_time || request == EndRequest::interleaved;
}

/// What became of a trial: `status` is one that a trial has after it ended.
struct TrialResult {
  TrialStatus status = TrialStatus::failed;
  std::string failure;  ///< empty for `completed`
};

/// The truth table of outcome x request x values. In words:
/// - What failed next to another trial, or could not be stopped for it, is to run again by itself.
/// - Out of memory and programs that could not be started are what they are, whatever was asked.
/// - A user's stop interrupts whatever was not asked to end before, unless the program had ended by
///   itself with exit status 0. So does the end of the time that machines were waited for, or of
///   the tuning time.
/// - A trial that the loop asked to end counts by its measurement; how it took the signal (exit
///   status 1, killed, 0) says nothing.
/// - A trial that nobody asked to end and that did not exit with 0 has failed, however well
///   measured: it would fail in the long run too. Where a hook has ended the program, since the
///   configuration is nothing for it, it is infeasible.
/// - A trial whose configuration is not in force is infeasible, however well measured.
/// - A trial that was ended since it told no steps any more has failed, whatever it told before.
/// - Without values nothing is ranked: failed. But what was merely too slow to be measured in time
///   was stopped early.
/// - `lost` and `stopped` without anybody's asking are interruptions: the trial may be launched
///   again.
[[nodiscard]] TrialResult trial_result(const TrialEnding& ending);

}  // namespace steptune
