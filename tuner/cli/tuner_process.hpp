// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/error.hpp"
#include "tuner/cli/attached_tuning.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// Starts a tuner process, which tunes the program that this process then becomes
/// (`tune_attached`). Returns the variables that load the hook into that program. The tuner is no
/// child of the program and has its own session. So it does not affect the program's signals,
/// children, terminal and end. Of the inherited descriptors the tuner keeps only stderr. It ends at
/// the latest soon after the program. Returns `runner` if it cannot be started.
[[nodiscard]] Result<std::map<std::string, std::string>> leave_tuner_behind(
    CommandContext& context, const AttachedTuning& tuning);

}  // namespace steptune
