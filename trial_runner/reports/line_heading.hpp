// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "trial_runner/reports/counter.hpp"

namespace steptune {

/// Counter that a line shows without `name=number`: `Epoch: [0/100]  [ 20/2502]`.
struct LineHeading {
  Count count;
  bool counts_samples = false;
};
[[nodiscard]] std::optional<LineHeading> line_heading(std::string_view line);

/// Whole number at the start of a line with further numbers: `10 | loss 4.2`, `[10] mae 0.5`.
[[nodiscard]] std::optional<double> leading_number(std::string_view line);

/// Share of the whole run that a line shows: 15.6 of `Progress:  15.6%`.
[[nodiscard]] std::optional<double> percent_of_run(std::string_view line);

}  // namespace steptune
