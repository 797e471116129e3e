// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "trial_runner/reports/counter.hpp"

namespace steptune {

/// A counter without `name=number` in a line: `Epoch: [0/100]  [ 20/2502]`.
struct LineHeading {
  Count count;
  bool counts_samples = false;
};
[[nodiscard]] std::optional<LineHeading> line_heading(std::string_view line);

/// Returns the whole number at the start of a line with further numbers: `10 | loss 4.2`, `[10] mae
/// 0.5`.
[[nodiscard]] std::optional<double> leading_number(std::string_view line);

/// Returns the share of the whole run in a line: 15.6 for `Progress:  15.6%`.
[[nodiscard]] std::optional<double> percent_of_run(std::string_view line);

}  // namespace steptune
