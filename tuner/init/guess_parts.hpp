// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "search/space/expression.hpp"
#include "tuner/init/guess_input.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/space_laws.hpp"
#include "tuner/init/study_builder.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune {

/// Looks up each known rule (`SpaceKnob`) among the program's options and the keys of its
/// configuration files. Adds a parameter for each option that can be varied, and the laws as
/// constraints. Records options that are left out, and why. Returns the roles of all rules, applied
/// or not.
std::set<std::string> add_program_knobs(const GuessInput& input, const SpaceLaws& laws,
                                        StudyBuilder& study);

/// Adds the knobs that PyTorch's hook can set in the program according to `survey`. Leaves out
/// knobs that the study already has, and knobs with a role in `roles_of_program`. Loads the hook
/// into trials even if no knob is left, because the hook reports their steps.
void add_hook_knobs(const GuessInput& input, const Survey& survey,
                    const std::set<std::string>& roles_of_program, StudyBuilder& study);

/// Adds variables that libraries in the program read: numbers of threads, if the study has none
/// yet, and settings of the memory allocator. Records variables that cannot be varied, and why.
void add_environment_knobs(const NativeRuntimes& runtimes, const Facts& machine,
                           StudyBuilder& study);

/// Adds `planned_run`, `unit`, `guards`, `reports`, `measure` and `try` to a guess that has its
/// parameters already. May count the program's data files, for some seconds at most.
void guess_goal(const GuessInput& input, StudyGuess& guess);

}  // namespace steptune
