// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"
#include "tuner/loop/trial_result.hpp"
#include "tuner/loop/trial_view.hpp"

namespace steptune {

/// Reason why the loop has asked a trial to end.
struct TrialEndCause {
  EndRequest request = EndRequest::none;
  std::string reason{};   ///< why the trial is to end, as text for people; may be empty
  double at_s = 0.0;      ///< end of the time, for time limits; loop's clock without pauses
  double waited_s = 0.0;  ///< time without a step, for `slow_start` and `silent`
  /// Measurement when the end was asked for. Reports that follow do not count.
  std::optional<Measurement> measured{};
};

inline constexpr const char* k_slow_in_job =
    "clearly slower than the best in two successive checks, so its job ended it";

/// Returns the cause as text for people: `reason`, or the time limit in words. Empty if the request
/// says everything.
[[nodiscard]] std::string reason_of(const TrialEndCause& cause, const TrialView& trial);

/// True if the trial was asked to end because it reported no step, so it may hang. False if its
/// lines were not understood.
[[nodiscard]] bool may_hang(const TrialEndCause& cause);

/// Names the environment variables that the configuration sets and the baseline does not, with
/// advice, as text for people about a trial that hung. Empty if there are none.
[[nodiscard]] std::string variables_unlike_baseline(const StudySpec& study,
                                                    const Configuration& configuration);

/// Returns the end of the trial's time, on the clock of its reports. `cause` is a time limit.
[[nodiscard]] double time_end_s(const TrialEndCause& cause, const TrialView& trial);

/// Returns for how many seconds the trial had reported no step when its time was over. Returns 0 if
/// that was at most half of its time, or if a phase was under way. Also returns 0 in a shared
/// program, whose reports use another clock.
[[nodiscard]] double silent_end_s(const TrialEndCause& cause, const TrialView& trial);

/// Returns the cause once the outcome is known. The outcome may be the first sign of a cause: the
/// trial failed next to another trial, or its job ended it, or its lines were not understood. A
/// trial that did not start next to another trial counts as failed next to it.
[[nodiscard]] TrialEndCause settled_cause(TrialEndCause cause, const Outcome& outcome,
                                          const TrialView& trial);

}  // namespace steptune
