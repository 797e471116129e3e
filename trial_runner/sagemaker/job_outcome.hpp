// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/sagemaker/pack_turns.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/stop_cause.hpp"

namespace steptune {

/// Returns the outcome of an ended job, without times and bill. `requested` is the runner's reason
/// to end the job; nullopt: the runner has not ended it. `output` is the end of the training
/// program's output.
[[nodiscard]] Outcome job_outcome(const JobDescription& state, std::optional<StopCause> requested,
                                  const TrialLimits& limits, const OutputTail& output);

/// True if the job failed because the service had no machines for it.
[[nodiscard]] bool lacked_capacity(const JobDescription& state);

/// End of a trial's turn in a pack, as reported by the job's shell.
struct TurnEnd {
  double time_s = 0.0;  ///< time on the runner's clock
  int exit_code = 0;
  /// Limit for which the shell ended the trial; nullopt: the trial ended by itself.
  std::optional<TurnLimit> limit{};
};
/// Returns the outcome of a turn. `given_s` is the length of the turn that the shell allows.
[[nodiscard]] Outcome turn_outcome(const TurnEnd& end, double given_s,
                                   std::optional<StopCause> requested, const TrialLimits& limits,
                                   const OutputTail& output);

}  // namespace steptune
