// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/init/planned_length.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// Returns lines for the terminal about a survey's findings and the tuned settings. Has no final
/// newline.
[[nodiscard]] std::string draft_text(const Survey& survey, const Draft& draft);

/// Returns a command as study files quote it: cut if it is very long.
[[nodiscard]] std::string quoted_command(const std::vector<std::string>& argv);

/// Returns the first lines of the study file of a surveyed program.
[[nodiscard]] std::string survey_heading(const std::vector<std::string>& argv);

/// Returns the whole study file, with the findings as comments. `argv` is the program's command;
/// `options` is a line that lists the options of the call.
[[nodiscard]] std::string study_file_text(const Survey& survey, const Draft& draft,
                                          const std::optional<PlannedLength>& planned,
                                          const std::vector<std::string>& argv,
                                          const std::string& options);

}  // namespace steptune
