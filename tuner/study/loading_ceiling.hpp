// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptune {

/// Returns `data loading costs 78 % of a step: at most 4.5 times as fast without it`, and for a
/// measured ceiling also ` (measured with cached batches)`.
[[nodiscard]] std::string loading_ceiling_text(double ceiling, bool is_measured);

}  // namespace steptune
