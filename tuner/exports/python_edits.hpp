// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"

namespace steptune {

/// Returns the lines of a program that a person changes, so that the program does by itself what
/// the hook did: for each knob, with the places that the hook saw (`# train.py:114`), without
/// settings that the program already has. Ends with a newline.
[[nodiscard]] std::string python_edits(const std::map<std::string, Value>& knobs,
                                       const HookLog& seen);

}  // namespace steptune
