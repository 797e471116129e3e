// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/init/program_option.hpp"
#include "tuner/init/ready_space.hpp"

namespace steptune {

/// The end of a setting's path that tells what it is: `batch_size` of `data.batch_size`, and
/// `amp.enabled` of `solver.amp.enabled`.
[[nodiscard]] std::string telling_path(const std::string& plain);

/// What an option that is called so usually is, by its name, kind and choices; nothing where it is
/// nothing that changes how fast the same training goes. Names of evaluations are left alone.
[[nodiscard]] std::optional<SpaceKnob> usual_knob(const ProgramOption& option);

}  // namespace steptune
