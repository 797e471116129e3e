// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"

namespace steptune {

/// The lines of a program that a person changes so that it does by itself what the hook put into
/// it: by knob, with the places that the hook saw (`# train.py:114`), without what it does already.
/// Ends with a newline.
[[nodiscard]] std::string python_edits(const std::map<std::string, Value>& knobs,
                                       const HookLog& seen);

}  // namespace steptune
