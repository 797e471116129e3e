// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/program_study.hpp"

namespace steptune {

/// Returns the options that affect the study file of a program, as they are typed: `--samples
/// 5000`.
[[nodiscard]] std::vector<std::string> given_options(const ProgramOptions& options);

/// Returns the line of a study file that lists these options. Later calls compare their options
/// with this line. Empty if no option was given.
[[nodiscard]] std::string options_line(const ProgramOptions& options);

/// Writes the study file `file` with the study name `name`, for the program that `argv` runs in
/// this folder. Surveys the program for some seconds. The study tunes the settings that the hook
/// can apply. If there are none, it tunes the program's own options (`init`). Prints progress and
/// findings on the console. A signal ends the work. Errors say why the program cannot be tuned this
/// way, and what to do instead.
[[nodiscard]] Result<StudyFile> write_program_study(CommandContext& context,
                                                    const std::vector<std::string>& argv,
                                                    const ProgramOptions& options,
                                                    const std::string& name,
                                                    const std::string& file);

}  // namespace steptune
