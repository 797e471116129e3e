// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/history/history.hpp"

namespace steptune {

/// Returns `key=value ...` for the log and `steptune show --decisions`. Numbers that are not finite
/// appear as `-`.
[[nodiscard]] std::string numbers_text(const StudyDecision& decision);

}  // namespace steptune
