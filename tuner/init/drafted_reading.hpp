// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "tuner/init/output_look.hpp"
#include "tuner/init/repeated_line.hpp"

namespace steptune {

/// Reads `output` with the expressions of `line`, which were drafted from it. Returns nullopt if it
/// is uncertain that they count the training's progress.
[[nodiscard]] std::optional<OutputReading> drafted_reading(const RepeatedLine& line,
                                                           std::string_view output);

/// Adds expressions for a loss and for an evaluation's loss to a reading that lacks them, if lines
/// of the output name them.
[[nodiscard]] OutputReading with_drafted_losses(OutputReading reading, std::string_view output);

}  // namespace steptune
