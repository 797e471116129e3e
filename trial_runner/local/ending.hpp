// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// The runner's reason to end a trial. `nothing`: the trial ended by itself.
enum class EndedBy { nothing, stop, wall_limit, idle_limit, memory_limit };

/// Facts about a trial whose main process has ended.
struct Ending {
  EndedBy by = EndedBy::nothing;
  int wait_status = 0;  ///< as waitpid returns it
  /// Place where the kernel killed processes for lack of memory while the trial ran.
  OomKillPlace oom_kills = OomKillPlace::nowhere;
  /// The trial's last output reports lack of memory (`ended_out_of_memory`).
  bool says_memory_out = false;
};

/// An ending in the terms of `Outcome`.
struct Classification {
  OutcomeKind kind = OutcomeKind::completed;
  int exit_code = 0;   ///< exit status, or 128 + signal
  std::string reason;  ///< for people; empty if `kind` says it all
};

/// Decides the outcome. The runner's own reason to end the trial has precedence over the exit
/// status. If the trial failed, signs of too little memory make the outcome lack of memory: a kill
/// by the kernel, the exit code of a killed child, or the last output.
[[nodiscard]] Classification classify(const Ending& ending, const TrialLimits& limits);

}  // namespace steptune::local
