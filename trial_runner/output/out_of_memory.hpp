// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/report.hpp"

/// Signs that a failed trial ran out of memory, for every runner. The system that ended the trial
/// may report it (the kernel's counters, Slurm's state or messages, SageMaker's reason). Otherwise
/// the trial's last output may report it, if no progress followed. A program that makes progress
/// after such a message has failed for another reason.
namespace steptune {

/// True if the text contains a message that the memory of the machine or of an accelerator is
/// exhausted. The message may come from a program, a library, or the batch system.
[[nodiscard]] bool reports_out_of_memory(std::string_view output);

/// Records that the last fed line contained `report`, if it has a count of steps or samples.
void mark_progress(OutputTail& tail, const Report& report);

/// True if the last output of a failed program says that memory ran out.
[[nodiscard]] bool ended_out_of_memory(const OutputTail& tail);

}  // namespace steptune
