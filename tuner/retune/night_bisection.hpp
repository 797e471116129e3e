// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the shell command that finds the commit after which the configuration in use became
/// slower: `cd /srv && steptune bisect GOOD 4f1c... -- python3 train.py`. The word GOOD is in it if
/// no commit of a fast night is known.
///
/// Returns an empty text if the night showed no slowdown, or if a bisection could not show it:
///
/// - The program is in no repository, or its commit has not changed.
/// - Trials run on other machines.
/// - The settings in use are not in the command line.
///
/// `database_option` is ` --db PATH` or empty.
[[nodiscard]] std::string bisect_command(const StudySpec& study, const Night& night,
                                         const std::string& database_option);

}  // namespace steptune
