// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/clock.hpp"
#include "common/error.hpp"

namespace steptune {

/// Runs `command` with `/bin/sh -c` to its end. The command gets `document` on stdin, the variable
/// STEPTUNE_EVENT=`event`, and this program's environment without secrets. Drops the command's
/// output. After 30 s, kills the command's process group. Errors (`runner`): the command cannot be
/// started, does not end in time, or its exit status is not 0.
[[nodiscard]] Result<void> run_hook_command(const std::string& command, const std::string& event,
                                            const std::string& document, const Clock& clock);

}  // namespace steptune
