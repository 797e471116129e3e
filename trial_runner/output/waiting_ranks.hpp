// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/output/lines.hpp"

/// Signs that a failed trial hung because its processes waited for each other, for every runner.
/// The libraries of distributed programs end a program whose processes wait too long.
namespace steptune {

inline constexpr const char* k_ranks_waited_text =
    "its output reports that ranks waited for each other for too long";

/// True if the last output of a failed program has a library's message about such a wait, and no
/// progress followed.
[[nodiscard]] bool ended_with_waiting_ranks(const OutputTail& tail);

}  // namespace steptune
