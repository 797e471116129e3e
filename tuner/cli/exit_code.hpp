// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/error.hpp"

namespace steptune {

/// Exit codes. Stable: scripts depend on the numbers (see docs/cli.md).
enum class ExitCode : int {
  ok = 0,
  failure = 1,      ///< an error during the work of the command
  usage = 2,        ///< wrong options, or a fault in the study file
  no_feasible = 3,  ///< the study ended without a configuration that works
  history = 4,      ///< the history is locked, corrupt, incompatible or in use by another process
  runner = 5,       ///< the runner cannot do its work
  promise_broken = 6,   ///< `follow`: the long run is slower than promised
  night_improved = 7,   ///< `retune`: another configuration is now in use
  night_regressed = 8,  ///< `retune`: the configuration in use has become slower, or fails
  night_failed = 9,     ///< `retune`: nothing could be measured
  /// `judge`: as fast as the first command, within the margin; `bisect`: not slower.
  judged_tied = 10,
  judged_slower = 11,     ///< `judge`: slower
  judged_undecided = 12,  ///< `judge`, `bisect`: the time was too short
  judged_worse = 13,      ///< `judge`: not slower, but the loss is worse
  interrupted = 130,      ///< SIGINT
  terminated = 143,       ///< SIGTERM or SIGHUP
};

[[nodiscard]] constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::usage;
    case ErrorKind::not_found:
    case ErrorKind::unavailable:
    case ErrorKind::internal:
      return ExitCode::failure;
    case ErrorKind::conflict:
    case ErrorKind::store:
      return ExitCode::history;
    case ErrorKind::runner:
      return ExitCode::runner;
  }
  return ExitCode::failure;
}

}  // namespace steptune
