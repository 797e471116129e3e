// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/pack_turns.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune {

/// Why the runner asked for a job's end.
enum class StopReason {
  caller,     ///< `Runner::stop`
  no_output,  ///< the idle limit
};

/// How a job that the service has ended is to be told. `requested`: why this program asked for the
/// end, if it did; `output`: the program's last. Times and bill are left empty.
[[nodiscard]] Outcome job_outcome(const JobDescription& state, std::optional<StopReason> requested,
                                  const TrialLimits& limits, const OutputTail& output);

/// How the turn of a trial in a pack came to its end, as the job's shell told it.
struct TurnEnd {
  double time_s = 0.0;  ///< runner's clock
  int exit_code = 0;
  std::optional<TurnLimit> limit{};  ///< that the shell ended it for; nothing: it ended by itself
};
/// How that is to be told. `given_s`: the time that it had.
[[nodiscard]] Outcome turn_outcome(const TurnEnd& end, double given_s,
                                   std::optional<StopReason> requested, const TrialLimits& limits,
                                   const OutputTail& output);

}  // namespace steptune
