// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// A process that computes for a smaller share of a CPU's time mostly waits. CPUs that are busy for
/// a smaller share of the time are mostly idle.
inline constexpr double k_waiting_cpu_share = 0.5;

/// Returns `data loading costs 78 % of a step: at most 4.5 times as fast without it`, and for a
/// measured ceiling also ` (measured with cached batches)`.
[[nodiscard]] std::string loading_ceiling_text(double ceiling, bool is_measured);

}  // namespace steptune
