// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Adds what options of the program and keys of its configuration files let vary, and says of the
/// others that a rule knows why they are left. Returns the roles of all of these, varied or not.
std::set<std::string> add_program_knobs(const GuessInput& input, StudyBuilder& study);

}  // namespace steptune
