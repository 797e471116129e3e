// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// Facts about a trial whose main process has ended.
struct Ending {
  /// Outcome for which the runner ended the trial; nullopt: the trial ended by itself.
  std::optional<OutcomeKind> ended_as;
  int wait_status = 0;  ///< as waitpid returns it
  /// Place where the kernel killed processes for lack of memory while the trial ran.
  OomKillPlace oom_kills = OomKillPlace::nowhere;
  /// The trial's last output reports lack of memory (`ended_out_of_memory`).
  bool says_memory_out = false;
  /// The trial's last output reports that ranks waited for each other (`ended_with_waiting_ranks`).
  bool says_ranks_waited = false;
};

/// Decides the outcome. Sets only kind, exit code and detail; the detail is empty if the kind says
/// it all. `Ending::ended_as` has precedence over the exit status. If the trial failed, signs of
/// too little memory make the outcome lack of memory: a kill by the kernel, the exit code of a
/// killed child, or the last output. Otherwise, a last output about waiting ranks makes it `hung`.
[[nodiscard]] Outcome classify(const Ending& ending, const TrialLimits& limits);

}  // namespace steptune::local
