// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"

namespace steptune {

/// Returns the lines that a user writes into a program, so that it uses the settings without the
/// hook. In front of a knob's lines, a comment names the places that the hook saw
/// (`# train.py:114`). Leaves out settings that the program already has. Ends with a newline.
[[nodiscard]] std::string python_edits(const std::map<std::string, Value>& knobs,
                                       const HookLog& seen);

}  // namespace steptune
