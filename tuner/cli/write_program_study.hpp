// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/program_study.hpp"

namespace steptune {

/// Of the options those that decide what is written for a program, as they are typed:
/// `--samples 5000`.
[[nodiscard]] std::vector<std::string> given_options(const ProgramOptions& options);

/// The line of a study file that tells these, by which they are known again; empty where none is
/// given.
[[nodiscard]] std::string options_line(const ProgramOptions& options);

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
