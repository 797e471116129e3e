// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune::local {

/// A terminal that this program provides for a trial. It is no process's controlling terminal, so
/// closing it sends no SIGHUP.
struct PseudoTerminal {
  UniqueFd tuner_end;  ///< non-blocking; reads the trial's output
  UniqueFd trial_end;  ///< the trial's standard streams
};

/// Opens a terminal with the size of this program's own terminal, or 80x24. The terminal passes
/// bytes unchanged and echoes nothing. A program that reads from it gets end of file at once, so a
/// program that asks a question does not hang. Returns `unavailable` if the system has no free
/// pseudo-terminal.
[[nodiscard]] Result<PseudoTerminal> open_pseudo_terminal();

}  // namespace steptune::local
