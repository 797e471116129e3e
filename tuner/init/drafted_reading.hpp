// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "tuner/init/output_look.hpp"
#include "tuner/init/repeated_line.hpp"

namespace steptune {

/// Returns how the expressions of `line` read the output that they were drafted from. Returns
/// nullopt if it is not certain that they count the training.
[[nodiscard]] std::optional<OutputReading> drafted_reading(const RepeatedLine& line,
                                                           std::string_view output);

/// Adds expressions for a loss and for an evaluation's loss to a reading that lacks them, if lines
/// of the output name them.
[[nodiscard]] OutputReading with_drafted_losses(OutputReading reading, std::string_view output);

}  // namespace steptune
