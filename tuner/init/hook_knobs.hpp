// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Adds the knobs that PyTorch's hook can set in the program according to `survey`. Leaves out
/// knobs that the study already has, and knobs whose role is in `roles_of_program`. Loads the hook
/// into trials even if no knob is left, because the hook reports their steps.
void add_hook_knobs(const GuessInput& input, const Survey& survey,
                    const std::set<std::string>& roles_of_program, StudyBuilder& study);

}  // namespace steptune
