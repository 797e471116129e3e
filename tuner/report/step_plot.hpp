// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/trial_trace.hpp"

namespace steptune {

/// The seconds per step of a trial over its time, as a plot of `width` columns and eight lines in
/// ASCII, each line ending with a newline: `#` reaches up to the mean of the time that a column
/// stands for. The line below says what a column belongs to: `.` warm-up, `=` the measured window,
/// `P` a reported phase, `!` disturbed by others. A stall stands out, because columns show means of
/// time, not of steps. What the signs mean follows, in as many lines as that takes. Empty where
/// there are fewer than three points or 36 columns.
[[nodiscard]] std::string step_plot(const TrialTrace& trace,
                                    const std::optional<Measurement>& measurement,
                                    std::size_t width);

}  // namespace steptune
