// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune {

/// Adds `planned_run`, `unit`, `guards`, `reports`, `measure` and `try` to a guess with its
/// parameters. May count the program's data files, for some seconds at most.
void guess_goal(const GuessInput& input, StudyGuess& guess);

}  // namespace steptune
