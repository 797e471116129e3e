// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/init/program_option.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// Returns the end of a setting's path that identifies it: `batch_size` of `data.batch_size`, and
/// `amp.enabled` of `solver.amp.enabled`.
[[nodiscard]] std::string telling_path(const std::string& plain);

/// Returns the rule for an option by its name, kind and choices. Returns nullopt for an option that
/// is not known to change the training's speed, and for options of evaluations.
[[nodiscard]] std::optional<SpaceKnob> usual_knob(const ProgramOption& option);

}  // namespace steptune
