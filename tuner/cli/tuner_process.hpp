// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/error.hpp"
#include "tuner/cli/attached_tuning.hpp"
#include "tuner/cli/command.hpp"

namespace steptune {

/// Starts a tuner process (`tune_attached`). The caller then replaces this process by the program
/// that is tuned. Returns the environment variables that load the hook into that program. The tuner
/// is no child of the program and has its own session. So it does not affect the program's signals,
/// children, terminal and end. The tuner closes all inherited descriptors except stderr. The tuner
/// ends before the program, or soon after it. Returns an error of kind `runner` if the tuner cannot
/// be started.
[[nodiscard]] Result<std::map<std::string, std::string>> leave_tuner_behind(
    CommandContext& context, const AttachedTuning& tuning);

}  // namespace steptune
