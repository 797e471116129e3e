// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/report.hpp"

/// When a trial that failed ran out of memory, on every runner: whatever ended it says so (the
/// kernel's counters, Slurm's state or words, SageMaker's reason), or else its own last words,
/// which are those that no progress has followed. A program that survives such a message and fails
/// later has failed.
namespace steptune {

/// Whether the text has one of the messages that are printed when memory, the machine's or an
/// accelerator's, has run out: by programs, their libraries, or what the batch system says of
/// them.
[[nodiscard]] bool reports_out_of_memory(std::string_view output);

/// Takes in that a report was read from the line that was fed last.
void mark_progress(OutputTail& tail, const Report& report);

/// Whether the last words of a program that failed tell that memory ran out.
[[nodiscard]] bool ended_out_of_memory(const OutputTail& tail);

}  // namespace steptune
