// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trial_runner/runner.hpp"

namespace steptune {

/// Reason why a runner ended a trial on another machine.
enum class StopCause {
  caller,      ///< `Runner::stop`
  wall_limit,  ///< `TrialLimits::wall_s`
  no_output,   ///< `TrialLimits::idle_s`
};

/// Returns the outcome of a trial that the runner has ended, without times and bill.
[[nodiscard]] Outcome stopped_outcome(StopCause cause, const TrialLimits& limits);

/// Number of last lines of output that explain a failure.
inline constexpr std::size_t k_explaining_lines = 5;
/// Adds the last lines of a failed trial's output to `detail`.
void add_last_output(std::string& detail, const std::vector<std::string>& lines);

}  // namespace steptune
