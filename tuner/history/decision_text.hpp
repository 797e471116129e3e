// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/history/history.hpp"

namespace steptune {

/// `key=value ...`, as the log and `steptune show --decisions` tell it; `-` for what is not finite.
[[nodiscard]] std::string numbers_text(const StudyDecision& decision);

}  // namespace steptune
