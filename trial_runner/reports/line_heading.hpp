// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/reports/counter.hpp"

namespace steptune {

/// A counter that a line shows in another form than `name=number`: `Epoch: [0/100] [ 20/2502]`.
struct LineHeading {
  Count count;
  bool counts_samples = false;
};
[[nodiscard]] std::optional<LineHeading> line_heading(std::string_view line);

/// Returns the count at the start of a line with further numbers: `10 | loss 4.2`, `[10] mae 0.5`,
/// `10/100, loss: 4.2`, `10 (5.0%) 43 ms`, and after an epoch or a rank, `[ 0] 10 || B: 0.5`.
[[nodiscard]] std::optional<Count> leading_count(std::string_view line);

/// Returns the line without its numbers and blanks. Lines of one kind have equal words.
[[nodiscard]] std::string words_of_line(std::string_view line);

/// Returns the epoch of `Epoch [3/500] Loss: 0.7`; nullopt for `best epoch [3]`.
[[nodiscard]] std::optional<double> epoch_in_brackets(std::string_view line);

/// Returns the progress of the whole run in percent: 15.6 for the line `Progress: 15.6%`.
[[nodiscard]] std::optional<double> percent_of_run(std::string_view line);

}  // namespace steptune
