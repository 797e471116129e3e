// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Adds the knobs that PyTorch's hook can set in the program, as `survey` found it: those that the
/// study does not have yet, and whose role is none of `roles_of_program`. The trials are given the
/// hook even where that leaves none: it tells their steps.
void add_hook_knobs(const GuessInput& input, const Survey& survey,
                    const std::set<std::string>& roles_of_program, StudyBuilder& study);

}  // namespace steptune
