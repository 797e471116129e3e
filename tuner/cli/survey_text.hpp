// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/init/planned_length.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// What was found of a program that was surveyed, and what of it is tuned: lines for the terminal,
/// without a line break at the end.
[[nodiscard]] std::string draft_text(const Survey& survey, const Draft& draft);

/// A program's command as a study file that is written from it tells it: cut where it is very long.
[[nodiscard]] std::string told_command(const std::vector<std::string>& argv);

/// What the study file of a program begins with that was surveyed.
[[nodiscard]] std::string survey_heading(const std::vector<std::string>& argv);

/// The whole study file, with what was found in its comments. `argv`: the program's command;
/// `options`: a line that tells what this was asked with.
[[nodiscard]] std::string study_file_text(const Survey& survey, const Draft& draft,
                                          const std::optional<PlannedLength>& planned,
                                          const std::vector<std::string>& argv,
                                          const std::string& options);

}  // namespace steptune
