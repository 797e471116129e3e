// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/error.hpp"
#include "tuner/cli/attached_tuning.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// Leaves a process behind that tunes what this process becomes (`tune_attached`), and returns the
/// variables that bring the hook into it. That process is nobody's child and in a session of its
/// own, so the program's signals, children, terminal and end are as they would be without it; it
/// holds stderr open while it tunes, nothing else, and ends with the program at the latest. Errors
/// (`runner`): there is none.
[[nodiscard]] Result<std::map<std::string, std::string>> leave_tuner_behind(
    CommandContext& context, const AttachedTuning& tuning);

}  // namespace steptune
