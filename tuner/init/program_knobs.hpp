// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/space_laws.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Looks up each known rule (`SpaceKnob`) among the program's options and the keys of its
/// configuration files. Adds a parameter for each option that can be varied, and the laws as
/// constraints. Records options that are left out, and why. Returns the roles of all rules, applied
/// or not.
std::set<std::string> add_program_knobs(const GuessInput& input, const SpaceLaws& laws,
                                        StudyBuilder& study);

}  // namespace steptune
