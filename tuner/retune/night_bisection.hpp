// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the shell command that finds the commit after which the configuration in use became
/// slower: `cd /srv && steptune bisect GOOD 4f1c... -- python3 train.py`. If no commit of a fast
/// night is known, the text contains the word GOOD, which the user replaces. If the baseline is
/// slower, too, its command is bisected.
///
/// Returns an empty text if the night showed no slowdown, or if a bisection cannot find its commit:
///
/// - The program is in no repository, or its commit has not changed.
/// - Trials run on other machines.
/// - The settings in use are not in the command line, and the baseline is not slower.
///
/// `database_option` is ` --db PATH` or empty.
[[nodiscard]] std::string bisect_command(const StudySpec& study, const Night& night,
                                         const std::string& database_option);

}  // namespace steptune
