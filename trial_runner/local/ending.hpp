// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

// Both functions set only kind, exit code and detail. If the kind needs no explanation, the detail
// is empty. `wait_status` is the status of the trial's main process, as waitpid returns it.

/// Returns the outcome of a trial that ended by itself. A failed trial ran out of memory if one of
/// three signs shows it: a kill by the kernel, the exit code of a killed child, or the last output.
/// `oom_kills`: place where the kernel killed processes for lack of memory while the trial ran.
/// `says_memory_out`: the last output reports lack of memory (`ended_out_of_memory`).
/// `says_ranks_waited`: the last output reports that ranks waited for each other
/// (`ended_with_waiting_ranks`). The trial then hung, unless memory ran out or SIGKILL ended it.
[[nodiscard]] Outcome own_ending(int wait_status, OomKillPlace oom_kills, bool says_memory_out,
                                 bool says_ranks_waited);

/// Returns the outcome of a trial that the runner ended as `kind`. The detail is the exceeded
/// limit.
[[nodiscard]] Outcome forced_ending(OutcomeKind kind, int wait_status, const TrialLimits& limits);

}  // namespace steptune::local
