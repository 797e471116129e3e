// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/end_cause.hpp"

namespace steptune {

/// Findings about a trial that has ended, as text for people. Unset: nothing was found.
struct TrialFindings {
  std::string detail{};                   ///< details about the end, from the runner
  std::optional<std::string> missing{};   ///< why there are no objective values
  std::optional<std::string> violated{};  ///< the guard or limit that is violated
  std::optional<std::string> slow{};      ///< why too little was measured in its time
  /// Settings that a hook could not apply: another configuration was measured.
  std::optional<std::string> not_applied{};
  /// Why a hook ended the program: the configuration does not suit the program.
  std::optional<std::string> given_up{};
};

/// Result of a trial that has ended.
struct TrialResult {
  TrialStatus status = TrialStatus::failed;
  std::string failure;  ///< empty for `completed`
};

/// Decides the result from the outcome, the settled cause and the findings:
/// - If an interleaved trial failed, did not start in time or could not be paused, it runs again
///   alone.
/// - A trial that ran out of memory or could not be started gets that result, whatever the loop had
///   asked.
/// - If the user stops, a trial is interrupted. Exceptions: it was already asked to end, or it
///   ended with exit status 0 and was measured. The same rule applies if the time to wait for
///   machines, or the tuning time, is over.
/// - A trial that the loop asked to end is judged by its measurement. Its reaction to the signal
///   (exit status 1, killed, 0) does not matter.
/// - A trial that ended by itself with an exit status other than 0 has failed, however well it was
///   measured. The program would fail in a long run, too. If a hook ended the program because the
///   configuration does not suit the program, the trial is infeasible.
/// - A trial whose configuration had no effect is infeasible, however well it was measured.
/// - A trial that was ended because it reported no more steps has failed, whatever it reported
///   before.
/// - A trial that was ended because its first step was late is infeasible.
/// - A trial without values has failed. If the trial was so slow that only a bound of its speed is
///   known, its status is `stopped_early`.
/// - `lost` and `stopped` without a request are interruptions: the trial may be launched again.
[[nodiscard]] TrialResult trial_result(OutcomeKind outcome, const TrialEndCause& cause,
                                       const TrialFindings& findings);

}  // namespace steptune
