// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace steptune::local {

/// A terminal that a program (this one) plays for a trial. It controls no process: opening it gives
/// this program no controlling terminal, and closing it sends no SIGHUP.
struct PseudoTerminal {
  UniqueFd tuner_end;  ///< non-blocking: reads what the trial prints
  UniqueFd trial_end;  ///< the trial's standard streams
};

/// Opens one with the size of the terminal that this program writes to, or 80x24. It passes every
/// byte on unchanged and echoes nothing. A read from it finds the end of input at once, so a
/// program that asks a question does not hang. Errors (`unavailable`): the system has none left.
[[nodiscard]] Result<PseudoTerminal> open_pseudo_terminal();

}  // namespace steptune::local
