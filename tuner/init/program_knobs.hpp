// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/space_laws.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Adds parameters for options of the program and keys of its configuration files. For other
/// options that have a rule, reports why they are left out. Adds the laws as constraints. Returns the roles of all these options
/// and keys, varied or not.
std::set<std::string> add_program_knobs(const GuessInput& input, const SpaceLaws& laws,
                                        StudyBuilder& study);

}  // namespace steptune
