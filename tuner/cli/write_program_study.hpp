// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/program_study.hpp"

namespace steptune {

/// Whether the user asked for what only the hook can do to a program as it is.
[[nodiscard]] bool needs_hook(const ProgramOptions& options);

/// Writes `file`, a study called `name` of the program that `argv` runs in this folder: by what the
/// hook can set in it, which a survey of some seconds tells, else by its own options (`init`). What
/// is being done, and what was found, goes to the console. Signals that come meanwhile end it.
/// Errors say why the program cannot be tuned so, and how else.
[[nodiscard]] Result<StudyFile> write_program_study(CommandContext& context,
                                                    const std::vector<std::string>& argv,
                                                    const ProgramOptions& options,
                                                    const std::string& name,
                                                    const std::string& file);

}  // namespace steptune
